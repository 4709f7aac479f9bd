"""Retrieval: answers with what was said in a dialogue in answer to something similar."""

from campaigns.connectors.dialogues import dialogues_for
from campaigns.connectors.retrieval.index import index_of
from campaigns.connectors.retrieval.ranking import Weights, choose_reply, score_replies
from campaigns.contracts.connector import Connector, Reply, Request
from campaigns.contracts.options import Number, OptionsForm

_PERCENT = 100


class Options(OptionsForm):
    """How a reply is chosen."""

    is_empty_default = True

    n_candidates = Number(
        label="Draw from this many best replies",
        help_text="1: always the best one that the chat has not had yet.",
        initial=1,
        min_value=1,
        max_value=1000,
    )
    min_similarity = Number(
        label="Least similarity, in percent",
        help_text="An input less similar than this to every turn of the file is answered by topic, persona and chance.",
        initial=10,
        min_value=1,
        max_value=_PERCENT,
    )


class Retrieval(Connector):
    """Answers with the turn that followed the one most like the worker's last input, from a file of dialogues."""

    slug = "retrieval"
    title = "Retrieval from dialogues"
    summary = (
        "Answers with what somebody said in answer to something similar, in a file of dialogues. Needs no network."
    )
    wants_dialogues = True
    options = Options

    def reply(self, request: Request) -> Reply:
        """Return the next turn, the same for the same chat and seed; raise ConnectorError `misconfigured`."""
        index = index_of(dialogues_for(self.setup))
        scores = score_replies(
            index,
            request.turns,
            topic=request.topic,
            persona=request.persona,
            weights=Weights(least=self.value_of("min_similarity") / _PERCENT),
        )
        text = choose_reply(
            index,
            scores,
            request.turns,
            n_candidates=self.value_of("n_candidates"),
            seed=request.seed,
            max_chars=request.max_chars,
        )
        return Reply(text)
