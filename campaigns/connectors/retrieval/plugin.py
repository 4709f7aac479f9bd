"""Retrieval: answers with what was said in a dialogue in answer to something similar."""

from collections.abc import Mapping
from typing import Any

from campaigns.connectors.retrieval.index import index_of
from campaigns.connectors.retrieval.ranking import Weights, choose_reply, score_replies
from campaigns.contracts.connector import Connector, Reply, Request
from campaigns.contracts.option import Option
from campaigns.dialogues import dialogues_for
from evalsite.lib.errors import DomainError

_N_CANDIDATES, _MIN_SIMILARITY = 1, 10
_MOST_CANDIDATES, _PERCENT = 1000, 100


class Retrieval(Connector):
    """Answers with the turn that followed the one most like the worker's last input, from a file of dialogues."""

    slug = "retrieval"
    title = "Retrieval from dialogues"
    summary = (
        "Answers with what somebody said in answer to something similar, in a file of dialogues. Needs no network."
    )
    wants_dialogues = True
    options = (
        Option(
            name="n_candidates",
            label="Draw from this many best replies",
            help="1: always the best one that the chat has not had yet.",
            default=_N_CANDIDATES,
        ),
        Option(
            name="min_similarity",
            label="Least similarity, in percent",
            help="An input less similar than this to every turn of the file is answered by topic, persona and chance.",
            default=_MIN_SIMILARITY,
        ),
    )

    def reply(self, request: Request) -> Reply:
        """Return the next turn, the same for the same chat and seed; raise ConnectorError `misconfigured`."""
        index = index_of(dialogues_for(self.setup))
        settings = self.check(self.setup.settings)
        scores = score_replies(
            index,
            request.turns,
            topic=request.topic,
            persona=request.persona,
            weights=Weights(least=settings["min_similarity"] / _PERCENT),
        )
        text = choose_reply(
            index,
            scores,
            request.turns,
            n_candidates=settings["n_candidates"],
            seed=request.seed,
            max_chars=request.max_chars,
        )
        return Reply(text)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return both options as whole numbers; raise DomainError `bad_option`."""
        return {
            "n_candidates": _whole(settings, "n_candidates", _N_CANDIDATES, _MOST_CANDIDATES),
            "min_similarity": _whole(settings, "min_similarity", _MIN_SIMILARITY, _PERCENT),
        }


def _whole(settings: Mapping[str, Any], name: str, default: int, most: int) -> int:
    value = settings.get(name)
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise DomainError("bad_option", f"“{name}” must be a whole number from 1 to {most}; it is {value!r}.")
    return value
