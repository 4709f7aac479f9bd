"""Dialogues as researchers have them: files of transcripts, whole or up to a reply, of three systems."""

import json
from itertools import product

SYSTEMS = ("alder", "birch", "cedar")
_TOPICS = ("sailing", "bread", "chess", "gardens", "trains", "birds", "maps", "clocks", "rivers", "songs")
_ASKED = ("Do you like {}?", "What do you know about {}?", "Tell me more.\nI have time.", "Why is that?", "Bye!")
_ANSWERS = (
    "I have loved {0} since {1} showed it to me one winter, and I never stopped.",
    "Yes.",
    "Most people think of {1} when they hear of {0}, but there is a lot more to it than that.\n\nAsk me anything.",
    "Because {0} takes patience, and {1} taught me to wait for the right moment.",
)
_WHO = ("my aunt", "a neighbour", "an old friend", "the baker", "our teacher")


def turns_of(n: int, system: str) -> list[dict[str, str]]:
    """Return a dialogue with a system, which is called by its own name, as in many files."""
    topic, place = _TOPICS[n % len(_TOPICS)], SYSTEMS.index(system)
    turns = []
    for k, asked in enumerate(_ASKED):
        turns.append({"speaker": "Human", "text": asked.format(topic)})
        if k < len(_ANSWERS):
            who = _WHO[(n + k + place) % len(_WHO)]
            answer = f"{_ANSWERS[k].format(topic, who)} ({system[0]}{n})" if k != 1 else _ANSWERS[k]
            turns.append({"speaker": f"{system}-7b", "text": answer})
    return turns


def whole_dialogues(n_dialogues: int = 7) -> str:
    """Return JSON Lines with a dialogue a line: `n_dialogues` of each system, each a source of its own."""
    return "\n".join(
        json.dumps(
            {
                "dialogue_id": f"{system}-{n}",
                "topic": _TOPICS[n % len(_TOPICS)],
                "system": system,
                "dialogue": turns_of(n, system),
            }
        )
        for n, system in product(range(n_dialogues), SYSTEMS)
    )


def single_replies(n_dialogues: int = 7) -> str:
    """Return JSON Lines with a reply a line, the dialogue before it as texts; systems answer the same contexts."""
    rows = []
    for n, k, system in product(range(n_dialogues), (1, 2), SYSTEMS):
        turns = [turn["text"] for turn in turns_of(n, "alder")]
        reply = turns_of(n, system)[2 * k + 3]["text"]
        rows.append({"turn_id": f"{n}.{k}", "context": turns[: 2 * k + 3], "system": system, "response": reply})
    return "\n".join(map(json.dumps, rows))
