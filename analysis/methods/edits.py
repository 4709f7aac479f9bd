"""Post-edited outputs: how much was edited (HTER), edit distance, and the time and keystrokes that it took."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.loading import WITH_COPIES, Answer, load_answers
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import Responses
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import explain_single, in_words, with_several
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section, weights_in
from analysis.methods.workers import JudgedWorkers, judge_rows, judgements_of, workers_in_words, workers_section
from analysis.metrics.tokens import TOKENS, tokenise
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Codes, Floats, Mask, or_none
from analysis.stats.segment_means import ClusteredMeans, clustered_ratios
from campaigns.design.composition import Kind
from evalsite.lib.edits import edit_distance
from evalsite.lib.errors import DomainError
from evalsite.lib.extras import needs_library
from evalsite.lib.words import counted

CRITERION = "edits"
HTER, CHARACTERS, SECONDS, KEYSTROKES = "HTER", "edit distance", "seconds per word", "keystrokes per word"
_COLUMNS = (
    Answer(("output", "translation", "mt", "hypothesis", "target"), is_number=False),
    Answer(("edited", "post_edited", "postedit", "post_edit", "pe"), is_number=False),
    Answer(("seconds", "time", "edit_time", "duration"), is_required=False),
    Answer(("keystrokes", "keys", "key_presses"), is_required=False),
)
_IN_ROUND = 200
_OF_GROUPS = "HTER of each text, averaged over texts; that of the ranking is over the words of all."


@dataclass(frozen=True)
class Edits:
    """What was edited, (n,) each: edits of TER, words and characters of the edited texts, and edited characters."""

    n_edits: Floats
    n_words: Floats
    n_characters: Floats
    n_changed: Floats

    def take(self, rows: Mask) -> "Edits":
        """Return the edits of some rows."""
        return Edits(self.n_edits[rows], self.n_words[rows], self.n_characters[rows], self.n_changed[rows])


class PostEdits(ResponseMethod[Responses]):
    """HTER of a system: edits in all of its outputs over words in all edited texts, in per cent; lower is better."""

    slug = "edits"
    title = "Post-editing"
    summary = "Edits over words of the edited texts (HTER), time and keystrokes."
    unit = "points of HTER"
    table = "edits"
    takes = OF_TESTED

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the outputs of a file and what they were edited to."""
        choices = file.choices_for(settings)
        return load_answers(file.path, _COLUMNS, criterion=CRITERION, choices=choices, kinds=WITH_COPIES)

    def analyse(
        self, data: Responses, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return HTER and the other rates, with errors clustered by worker and source."""
        data = data.without_repeats()
        return self.result_of(data, measure_edits(data, on_progress), settings)

    def result_of(self, everything: Responses, edits: Edits, settings: AnalysisSettings) -> Result:
        """Return the result of outputs of which it is known what was edited."""
        judged = _judge(everything, edits.n_changed, edits.n_characters, settings)
        is_counted = judged.is_counted[everything.worker] & (everything.kind == Kind.ORDINARY)
        data, edits = everything.take(is_counted), edits.take(is_counted)
        rates = _rates(data, edits, settings)
        n_of = np.bincount(data.system, minlength=len(data.systems))
        means = {name: each.mean for name, each in rates.items()}
        scores = SystemScores.of(data.systems, rates[HTER], n_of, means, higher_is_better=False)
        unchanged = np.bincount(data.system, weights=edits.n_changed == 0, minlength=n_of.size) / np.maximum(n_of, 1)
        in_groups = partial(
            GroupedScores,
            *(100 * edits.n_edits / edits.n_words, data.system, data.systems, scores.order),
            with_several({"worker": data.worker, "source": data.source}),
            data.attributes,
        )
        of_systems = [
            {"system": data.systems[code], "unchanged": float(unchanged[code])}
            | {name: [or_none(values[code]) for values in (of.mean, of.low, of.high)] for name, of in rates.items()}
            for code in scores.order
        ]
        n_words = int(edits.n_words.sum())
        return Analysed(
            *(settings, scores, everything, judged),
            summary={"n_workers": len(data.workers), "n_outputs": data.n, "n_words": n_words},
            own={"rates": of_systems},
            notes=explain_single(scores.n_clusters) if data.n else [],
            criteria=data.criteria,
            groups=in_groups,
        ).result()

    def judge(self, data: Responses, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether they change more of degraded items."""
        data = data.without_repeats()
        keys, of_row = _different_texts(data)
        changed = np.array([(edit_distance(output, edited), len(edited)) for output, edited in keys], np.float64)
        n_changed, n_characters = changed.reshape(-1, 2)[of_row].T
        return _judge(data, n_changed, n_characters, settings)

    def values_by_worker(self, data: Responses, settings: AnalysisSettings) -> ValuesByWorker:
        """Return the totals of which HTER is the ratio."""
        rows = data.take(data.kind == Kind.ORDINARY)
        edits = measure_edits(rows)
        of = 100 * edits.n_edits, edits.n_words
        return ValuesByWorker.of_ratios(data.workers, data.systems, *of, rows.worker, rows.system)

    def outputs(self, data: Responses, settings: AnalysisSettings) -> OutputScores | None:
        """Return HTER of each output, with its sign changed."""
        data = data.without_repeats()
        edits = measure_edits(data, lambda _: None)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(edits.n_words > 0, -100 * edits.n_edits / edits.n_words, np.nan)
        return counted_outputs(data, rate, self.judge(data, settings).is_counted)

    def judgements(self, data: Responses, settings: AnalysisSettings) -> Judgements:
        """Return HTER of each output, and what it was edited to."""
        edits, text = measure_edits(data), data.text["edited"]
        hter = 100 * edits.n_edits / edits.n_words
        found = judgements_of(data, hter, [Scale(AnswerKind.AMOUNT)], self.judge(data, settings))
        ratings = replace(found.ratings, scores=np.stack([hter, text.codes.astype(np.float64)], axis=1))
        scales = [*found.scales, Scale(AnswerKind.TEXT, texts=text.labels)]
        return replace(found, ratings=ratings, criteria=[HTER, "edited text"], scales=scales)

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking by HTER, the pairs, and all rates."""
        caption = (
            "HTER: edits, shifts of words included, per 100 words of the edited texts (TER, Snover et al. 2006, by "
            f"sacrebleu). {TOKENS} Errors are clustered by {in_words(result.summary.n_clusters)}."
        )
        return [
            systems_section(result, score=HTER, n="outputs", caption=caption),
            pairs_section(result, caption="Differences of HTER, the better system first."),
            *groups_sections(result, score=HTER, note=_OF_GROUPS),
            _rates_section(result.own["rates"]),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how much was edited."""
        said = result.own_summary
        edited = f"{counted(said['n_workers'], 'worker')} edited {counted(said['n_outputs'], 'output')}"
        return f"{edited} to {counted(said['n_words'], 'word')}. {workers_in_words(result)}".strip()


def measure_edits(data: Responses, on_progress: Progress = lambda _: None) -> Edits:
    """Return what was edited; every two different texts are compared once.

    Raises DomainError `missing_library` without sacrebleu.
    """
    try:
        from sacrebleu.metrics import TER
    except ImportError:
        raise DomainError("missing_library", needs_library("HTER", "sacrebleu", "metrics")) from None

    texts, of_row = _different_texts(data)
    found = np.empty((len(texts), 4))
    for k, (output, edited) in enumerate(texts):
        found[k] = _compare(TER, output, edited)
        if k % _IN_ROUND == 0:
            on_progress(f"Compared {k:,} of {len(texts):,} texts")
    return Edits(*found[of_row].T)


def _different_texts(data: Responses) -> tuple[list[tuple[str, str]], Codes]:
    """Return the different outputs with what they were edited to, and which of these each row is, (n,)."""
    output, edited = data.text["output"], data.text["edited"]
    key = output.codes.astype(np.int64) * len(edited.labels) + edited.codes
    keys, of_row = np.unique(key, return_inverse=True)
    before, after = np.divmod(keys, len(edited.labels))
    return [(output.labels[a], edited.labels[b]) for a, b in zip(before, after, strict=True)], of_row


def _judge(data: Responses, n_changed: Floats, n_characters: Floats, settings: AnalysisSettings) -> JudgedWorkers:
    return judge_rows(data, -n_changed / np.maximum(n_characters, 1), settings)


@lru_cache(20_000)  # the same texts come again without a worker, in halves and in pools
def _compare(metric: Callable[[], Any], output: str, edited: str) -> tuple[int, int, int, int]:
    """Return edits of TER, words and characters of the edited text, and edited characters."""
    words = tokenise(edited)
    before = tokenise(output)
    n_edits = 0
    if before != words:
        n_edits = int(metric().sentence_score(" ".join(before), [" ".join(words)]).num_edits)
    return n_edits, max(len(words), 1), len(edited), edit_distance(output, edited)


def _rates(data: Responses, edits: Edits, settings: AnalysisSettings) -> Mapping[str, ClusteredMeans]:
    """Return the rates of systems that the file has the numbers for."""
    sums = {HTER: (100 * edits.n_edits, edits.n_words), CHARACTERS: (100 * edits.n_changed, edits.n_characters)}
    for name, column in ((SECONDS, "seconds"), (KEYSTROKES, "keystrokes")):
        if column in data.numbers and not np.isnan(data.numbers[column]).all():
            sums[name] = data.numbers[column], edits.n_words
    groups = {"worker": data.worker, "source": data.source}
    weight = weights_in(data.attributes, settings)
    found = {}
    for name, (numerator, denominator) in sums.items():
        known = ~np.isnan(numerator)
        own = with_several({each: codes[known] for each, codes in groups.items()}, settings.workers_planned)
        rows = numerator[known], denominator[known], data.system[known], len(data.systems), own
        found[name] = clustered_ratios(*rows, None if weight is None else weight[known])
    return found


def _rates_section(rows: Sequence[Report]) -> Section:
    names = [name for name in (HTER, CHARACTERS, SECONDS, KEYSTROKES) if name in rows[0]]
    cells: list[list[Cell]] = [
        [row["system"], row["unchanged"], *(value for name in names for value in row[name])] for row in rows
    ]
    columns = [Column("system"), Column("unchanged", 3)]
    for name in names:
        columns += [Column(name, 2), Column("low", 2), Column("high", 2)]
    caption = (
        "Rates over all texts of a system, with 95 % intervals. Edit distance: characters that were inserted, deleted "
        "or replaced, per 100 of the edited texts. Seconds and keystrokes are per word of the edited texts. Unchanged: "
        "the share of outputs that were left as they are."
    )
    return Section("rates", "Edits and effort", tables=[Table("rates", "Edits and effort", caption, columns, cells)])
