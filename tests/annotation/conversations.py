"""Conversations and traces of agents as researchers have them: JSON Lines, an output a line, of three systems."""

import json
from itertools import product
from typing import Any

SYSTEMS = ("alder", "birch", "cedar")
_TOPICS = ("sailing", "bread", "chess", "gardens", "trains", "birds", "maps", "clocks", "rivers", "songs")
_WHO = ("an aunt", "a neighbour", "an old friend", "the baker", "a teacher")


def messages_of(n: int, system: str) -> list[dict[str, Any]]:
    """Return a conversation with a call of a tool and three replies, with ids that tell the system."""
    topic, who = _TOPICS[n % len(_TOPICS)], _WHO[(n + SYSTEMS.index(system)) % len(_WHO)]
    call = {"name": "look_up", "arguments": json.dumps({"topic": topic, "by": who})}
    return [
        {"role": "system", "content": f"You help with {topic}."},
        {"role": "user", "content": f"What do people say of {topic}?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": f"{system}-1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"{system}-1", "content": f"{who} wrote of {topic} in {1900 + n}"},
        {"role": "assistant", "content": f"In {1900 + n} {who} wrote that {topic} takes patience above all."},
        {"role": "user", "content": "Is that <b>true</b>?"},
        {
            "role": "assistant",
            "content": f"Many who know {topic} well say so, and {who} is one of them.",
            "name": system,
        },
        {"role": "user", "content": "Thank you."},
        {"role": "assistant", "content": f"Ask me more about {topic} whenever you like to hear of {who}."},
    ]


def steps_of(n: int, system: str) -> dict[str, Any]:
    """Return a trace of four steps, one of which fails, and an answer; a trace of SWE-agent in its form."""
    topic, who = _TOPICS[n % len(_TOPICS)], _WHO[(n + SYSTEMS.index(system)) % len(_WHO)]
    steps = [
        {"thought": f"I search for {topic}.", "action": f"search '{topic}'", "observation": f"{who}, {1900 + n}"},
        {"thought": "", "action": f"open '{who}.html'", "observation": f"<script>alert('{topic}')</script>"},
        {"thought": f"I ask {who}.", "action": f"mail '{who}'", "observation": "", "error": "no such address"},
        {"thought": "I sum it up.", "action": "write", "observation": f"{topic} takes patience. " * 40},
    ]
    timed = [each | {"execution_time": 1.5 * place} for place, each in enumerate(steps)]
    info = {"submission": f"{who} says that {topic} takes patience.", "model_stats": {"instance_cost": 0.25}}
    return {"trajectory": timed, "info": info}


def conversations(n_sources: int = 7) -> str:
    """Return conversations, several systems' for each task."""
    pairs = product(range(n_sources), SYSTEMS)
    rows = ({"id": f"task-{n}", "task": f"Talk of {n}", "model": s, "messages": messages_of(n, s)} for n, s in pairs)
    return "\n".join(map(json.dumps, rows))


def traces(n_sources: int = 7) -> str:
    """Return traces, several systems' for each task, each as the text of a file."""
    pairs = product(range(n_sources), SYSTEMS)
    rows = (
        {"id": f"task-{n}", "task": f"Find {n}", "model": s, "output": json.dumps(steps_of(n, s))} for n, s in pairs
    )
    return "\n".join(map(json.dumps, rows))
