"""QAScore: how well a masked language model finds an answer again, given the passage and a question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import Data, OnOutput, Scores, Texts
from analysis.metrics.neural import (
    Collected,
    ModelChoice,
    NeuralKind,
    Part,
    SourceField,
    answer_parts,
    masked_words,
)
from campaigns.contracts.options import OptionsForm


class QAScoreOptions(OptionsForm):
    """The model, and what it reads beside the question."""

    model = ModelChoice(help_text="A masked language model such as RoBERTa, exported with --task fill-mask.")
    passage = SourceField(initial="passage", label="Passage")
    answer = SourceField(initial="answer", label="Answer")


class QAScore(NeuralKind):
    """QAScore of generated questions (Ji et al. 2022): Σ ln P(word of the answer), each word masked by itself."""

    slug = "qascore"
    title = "QAScore"
    metrics = ("QAScore",)
    note = (
        "For questions about a passage: needs no reference. A masked language model reads passage, question and "
        "answer with one word of the answer masked at a time; the natural logarithms of the probabilities of the true "
        "words are added. 0 is best. A long passage is read in windows, and the best one counts. A system's score is "
        "the mean of its outputs; questions without passage or answer are left out."
    )
    task = "fill-mask"
    Options = QAScoreOptions

    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data: outputs that are questions, a passage and an answer."""
        if data.format.of_dialogue:
            return "It scores questions about a passage, and these outputs belong to dialogues."
        if not data.format.is_one_text:
            return f"It scores questions about a passage, and these outputs have the format “{data.format.title}”."
        return "" if len(data.fields) > 1 else "It needs a passage and an answer of each source; a text is missing."

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return QAScore, at most 0."""
        model = self.load(options)
        model.require("logits", self.task)
        passage, reply = (self.field_of(options, name) for name in ("passage", "answer"))
        end = model.special("eos_token")

        def asked() -> Iterator[list[Part]]:
            for place, question in enumerate(texts.outputs):
                parts = (texts.field_of(place, passage), question.strip(), texts.field_of(place, reply))
                first = [end, *model.encode(parts[1]), end]
                yield [masked_words(model, model.encode(parts[0]), parts[2], first=first)] if all(parts) else []

        found = Collected()
        for parts in answer_parts(asked(), model.log_likelihoods):
            has_score = bool(parts) and bool(parts[0].size)
            found.add([parts[0].sum(axis=1).max() if has_score else np.nan], parts, on_output)
        return found.scores(self.metrics, model)
