"""BERTScore: for each token of an output the most similar one of its reference, and the reverse (Zhang et al. 2020)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from analysis.metrics.kinds import Floats, OnOutput, Scores, Texts
from analysis.metrics.models import Model, TokenRow, windows
from analysis.metrics.neural import Collected, ModelChoice, NeuralKind, by_output
from campaigns.contracts.options import Number, OptionsForm, Switch

_LAST = "last_hidden_state"


class BertScoreOptions(OptionsForm):
    """The model, its layer, and how tokens are weighted."""

    model = ModelChoice(help_text="A model such as RoBERTa, exported with --task feature-extraction.")
    layer = Number(
        label="Layer",
        min_value=0,
        max_value=1000,
        help_text="Empty: the last one that the model has. Another one only if the model returns all hidden states.",
    )
    idf = Switch(label="Weigh tokens by how rare they are in the references (idf)")


class BertScore(NeuralKind):
    """BERTScore with greedy matching of tokens by the cosine of their embeddings; not rescaled."""

    slug = "bertscore"
    title = "BERTScore"
    metrics = ("BERTScore P", "BERTScore R", "BERTScore F1")
    note = (
        "Each token of the output is matched with the token of the reference whose embedding has the greatest cosine "
        "(precision), and each of the reference with one of the output (recall); times 100, without rescaling by a "
        "baseline. The embeddings of long texts are taken from overlapping windows. A system's score is the mean of "
        "its outputs."
    )
    task = "feature-extraction"
    needs_reference = True
    Options = BertScoreOptions

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return precision, recall and F1, from −100 to 100."""
        model = self.load(options)
        output = self._output(model, options)
        begin, end = model.special("cls_token"), model.special("sep_token")
        room = model.longest - 2
        if room < 1:
            raise model.folder.error("it reads no more than its special tokens.")
        pairs = [
            (model.encode(reference), model.encode(text))
            for reference, text in zip(texts.references, texts.outputs, strict=True)
        ]
        weights = _idf([ids for ids, _ in pairs]) if self.Options.value_of(options, "idf") else {}

        def asked() -> Iterator[list[TokenRow]]:
            before: list[int] | None = None
            for reference, ids in pairs:
                for each in (ids,) if reference == before else (reference, ids):
                    yield [TokenRow([begin, *each[window], end]) for window in windows(len(each), room)]
                before = reference

        found, embedded = Collected(), by_output(asked(), lambda rows: self._embed(model, rows, output))
        reference: list[int] | None = None
        of_reference = np.empty((0, 0))
        for ids_of_reference, ids in pairs:
            if ids_of_reference != reference:
                reference, of_reference = ids_of_reference, _join(next(embedded), len(ids_of_reference), room)
            of_output = _join(next(embedded), len(ids), room)
            scores = _match(
                of_output,
                of_reference,
                *([weights.get(k, weights.get(-1, 1.0)) for k in each] for each in (ids, ids_of_reference)),
            )
            parts = [windows(len(each), room) for each in (ids, ids_of_reference)]
            found.add([100 * each for each in scores], parts, on_output)
        return found.scores(self.metrics, model)

    def _output(self, model: Model, options: Mapping[str, Any]) -> str:
        """Return the name of the output that has the embeddings; raise DomainError `bad_model` if there is none."""
        layer = self.Options.value_of(options, "layer")
        if layer is None:
            model.require(_LAST, self.task)
            return _LAST
        for name in (f"hidden_states.{layer}", f"hidden_states_{layer}"):
            if name in model.outputs:
                return name
        raise model.folder.error(
            f"it returns no hidden states of layer {layer}. Leave the layer empty, or export a model that ends with "
            "it: the guide says how."
        )

    def _embed(self, model: Model, rows: Iterator[TokenRow], output: str) -> Iterator[Floats]:
        """Yield the embedding of each token but the first and the last, with length 1."""
        for found in model.run(rows, output):
            if found.ndim != 2:
                raise model.folder.error(f"“{output}” has no vector for each token.")
            vectors = found[1:-1].astype(np.float64)
            yield vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _join(parts: Sequence[Floats], n_tokens: int, room: int) -> Floats:
    """Return one embedding for each token: from the window in which it is farthest from an end."""
    found = np.empty((n_tokens, parts[0].shape[1]))
    margin = np.full(n_tokens, -1)
    for window, part in zip(windows(n_tokens, room), parts, strict=True):
        own = np.arange(window.stop - window.start)
        inside = np.minimum(own, own[::-1])
        is_better = inside > margin[window]
        places = own[is_better] + window.start
        found[places], margin[places] = part[is_better], inside[is_better]
    return found


def _idf(references: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return ln((M + 1)/(n + 1)) of each token that n of M references have; under −1 that of all others.

    References
    ----------
    Zhang et al. 2020, §3 “Importance weighting”, with plus-one smoothing.
    """
    counts = Counter(token for ids in references for token in set(ids))
    total = log(len(references) + 1)
    return {token: total - log(n + 1) for token, n in counts.items()} | {-1: total}


def _match(
    output: Floats, reference: Floats, output_weights: list[float], reference_weights: list[float]
) -> list[float]:
    """Return precision, recall and F1 of tokens with embeddings of length 1; 0 where a text has none.

    NaN where all weights are 0: every reference has the same tokens.
    """
    if not len(output) or not len(reference):
        return [0.0, 0.0, 0.0]
    cosines = output @ reference.T
    if not sum(output_weights) or not sum(reference_weights):
        return [float("nan")] * 3
    precision = float(np.average(cosines.max(axis=1), weights=output_weights))
    recall = float(np.average(cosines.max(axis=0), weights=reference_weights))
    total = precision + recall
    return [precision, recall, 2 * precision * recall / total if total else 0.0]
