"""The example campaigns, as they are to be made: for the demo, and to begin with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Example:
    """A campaign that the demo shows.

    `folder` holds outputs.csv, or chatbots.json where chats are live, and quality.json, the systems' true quality.
    `becomes` is how far it gets: of a running one `n_hits` are finished, of `n_built` that a live one has, and `n_left`
    more workers have left in the middle of theirs. `likes_length` is how much better workers see an output of twice as
    many words than it is, in the unit of the quality. `attributes` are columns of the outputs that say more of the
    sources. `design` are fields of the design that its protocol does not preset, `words` take the places of blanks in
    the instructions.
    """

    name: str
    protocol: str
    folder: str
    becomes: Literal["finished", "running", "draft"]
    workers_per_hit: int = 1
    n_hits: int = 0
    n_left: int = 0
    n_built: int = 0
    likes_length: float = 0.0
    attributes: tuple[str, ...] = ()
    design: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        """Whether workers chat with its systems."""
        return self.n_built > 0


FINISHED = Example("Example: answers to questions", "mrc-adequacy", "mrc", "finished")
RUNNING = Example("Example: generated questions", "qg", "qg", "running", workers_per_hit=2, n_hits=14, n_left=2)
LIVE = Example(
    "Example: chats with four chatbots", "dialogue-free", "dialogue", "running", n_hits=6, n_left=2, n_built=20
)
DRAFT = Example("Example: do the answers read well?", "mrc-fluency", "mrc", "draft")
LIKERT = Example(
    "Example: answers on five points",
    "likert",
    "mrc",
    "finished",
    design={"n_ordinary": 30, "n_degraded": 8, "n_repeat": 4, "n_hits": 12},
    words={"what workers read": "short passages, each with an answer to a question about it"},
)
PREFERENCE = Example(
    "Example: which question is better?",
    "preference",
    "qg",
    "finished",
    design={"n_hits": 12},
    words={"what makes a text better": "a question is better if the passage answers it and it reads well"},
)
ESA = Example(
    "Example: errors in restored texts",
    "esa",
    "esa",
    "finished",
    design={"n_ordinary": 6, "n_degraded": 2, "n_repeat": 1, "n_hits": 12},
    words={"source language": "small letters without punctuation", "target language": "written English"},
)
LLM = Example(
    "Example: answers of language models",
    "llm-pair",
    "llm",
    "finished",
    likes_length=0.6,
    attributes=("topic",),
    design={"n_ordinary": 14, "n_degraded": 12, "n_repeat": 1, "n_hits": 16},
    words={"what makes an answer better": "an answer is better if it is correct, does what was asked, and is clear"},
)
AGENTS = Example(
    "Example: traces of agents", "agent-trace", "agents", "finished", attributes=("topic",), design={"n_hits": 12}
)
EXAMPLES = (DRAFT, LIVE, RUNNING, AGENTS, LLM, ESA, PREFERENCE, LIKERT, FINISHED)
"""The last one is made last: it is first in the list of campaigns."""
