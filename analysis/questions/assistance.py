"""People and a metric together: narrower intervals, what they save, and what they would save (METHOD §7)."""

from analysis.metrics.assistance import WIN_RATE, AssistedComparisons, MetricSaving, assist_scores, assist_votes
from analysis.questions import Asked, Question
from analysis.questions.metrics import PAGE
from analysis.results.procedures import PAIRS_SHOWN
from analysis.results.sections import Cell, Column, Output, Range, Section, Table, in_percent
from analysis.results.words import p_equals

_NOTICED = 0.005  # a saving below half a per cent is none
_NO_SAMPLE = 0.01  # below this p the rated outputs are said to be no random sample
_HOLDS = (
    "What a metric prefers is measured on the rated outputs and taken away again, so it does not move the difference "
    "in the mean. This holds only if the rated outputs are a random sample of those with a score."
)
_TITLE = "What does a metric add to the human ratings?"


class Assistance(Question[AssistedComparisons]):
    """Differences of systems, or win rates, by people and a metric together."""

    slug = "assistance"
    title = _TITLE
    page = PAGE
    answer = AssistedComparisons

    def is_asked(self, asked: Asked) -> bool:
        """Whether there are scores of metrics."""
        return asked.metrics is not None

    def refuse(self, asked: Asked) -> str:
        """Return that it must be known which outputs were judged."""
        if refused := super().refuse(asked):
            return refused
        is_known = asked.outputs() is not None or asked.comparisons() is not None
        return "" if is_known else "It is not known which outputs people judged, so no metric can be joined with them."

    def compute(self, asked: Asked) -> AssistedComparisons:
        """Return what `assist_scores` and `assist_votes` do."""
        assert asked.metrics is not None, "not asked"
        if people := asked.method.peoples_scores(asked.data, asked.settings, asked.order):
            return assist_scores(people, asked.metrics)
        pairs = asked.comparisons()
        assert pairs is not None, "refused"
        return assist_votes(pairs, asked.order, asked.metrics)

    def sections(self, answer: AssistedComparisons) -> list[Section]:
        """Return what each metric saves, and every pair of systems with the one that saves most."""
        if not (answer.metrics or answer.whole_systems_only):
            return []
        tables = [_savings(answer), _pairs_shown(answer), _pairs_in_files(answer)] if answer.metrics else []
        return [Section("metric-savings", _TITLE, _finding(answer), tables, page=PAGE)]


def _what(answer: AssistedComparisons) -> str:
    """Return what the numbers of pairs are, in words."""
    if answer.measure == WIN_RATE:
        return "Share of comparisons that the first system wins, ties counted half,"
    return f"Difference in {answer.measure}"


def _words(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f} %"


def _finding(answer: AssistedComparisons) -> str:
    metrics, n = answer.metrics, answer.n_ratings
    if not metrics:
        return "Nothing: the scores are of whole systems, and only scores of single outputs can be joined with ratings."
    best = metrics[0]
    if best.saving is None:
        return "No difference of systems has an interval, so a metric cannot narrow it."
    if all(metric.share_rated == 1 for metric in metrics):
        return (
            "Nothing: every output with a score was rated. Only scores of outputs that nobody rated add to ratings; "
            "upload them, or compute them for more outputs."
        )
    if (p := best.sample_p) is not None and p < _NO_SAMPLE:
        return (
            f"The rated outputs do not look like a random sample: {best.name} separates systems differently on them "
            f"than on all outputs (p {p_equals(p)}). So differences with a metric may be "
            "wrong here; keep to those by people alone."
        )
    if best.saving < _NOTICED:
        return "Nothing: no metric follows the ratings of outputs closely enough to narrow the intervals."
    said = (
        f"{best.name} saves most. With it, differences of systems are as sure as {n / (1 - best.saving):,.0f} "
        f"ratings by people alone would make them; there are {n:,}. So {_words(best.saving)} of the ratings could "
        "have been left out"
    )
    if (before := best.predicted_by_half) is not None:
        said += f" ({_words(before)} predicted from every second worker)"
    return said + f". {_future(best)}"


def _future(best: MetricSaving) -> str:
    """Return what the saving would be with more ratings of the same outputs, and with more scores."""
    twice = next((predicted for predicted in best.predicted if predicted.times == 2), None)
    if best.limit is None or twice is None:
        return ""
    more = "none" if twice.share_rated == 1 else _words(twice.saving)
    return f"Predicted: {more} with twice the ratings, {_words(best.limit)} with scores of many more outputs."


def _savings(answer: AssistedComparisons) -> Table:
    columns = [
        Column("metric"),
        Column("outputs", hint="with a score"),
        Column("rated %", 1, hint="of these outputs"),
        Column("without score", hint="ratings of outputs that the metric has no score of"),
        Column("saved %", 1, hint="of the ratings of now"),
        Column("predicted %", 1, hint="for now, from every second worker"),
    ]
    columns += [Column(f"at {later.times}× %", 1, hint="predicted") for later in answer.metrics[0].predicted[1:]]
    columns.append(Column("more scores %", 1, hint="predicted with scores of many more outputs"))
    rows: list[list[Cell]] = [
        [
            *(metric.name, metric.n_outputs, in_percent(metric.share_rated), metric.n_missing),
            *(in_percent(metric.saving), in_percent(metric.predicted_by_half)),
            *(in_percent(later.saving) for later in metric.predicted[1:]),
            in_percent(metric.limit),
        ]
        for metric in answer.metrics
    ]
    caption = (
        f"Share of the {answer.n_ratings:,} ratings that count that could be left out for intervals as narrow as by "
        "people alone, over all pairs of systems. Predicted for now from the ratings of every second worker, and from "
        "all ratings for twice and four times as many and for scores of many more outputs, if workers and outputs are "
        "like those of now. Nothing more is promised: where workers and outputs differ from these, so does the "
        "saving. Choose a metric before you look: the best of several looks a little better than it is."
    )
    if answer.whole_systems_only:
        caption += f" Scores of whole systems only, which save nothing: {', '.join(answer.whole_systems_only)}."
    return Table("metric-savings", "Ratings that a metric saves", caption, columns, rows, output=Output.SHOWN)


def _pairs_shown(answer: AssistedComparisons) -> Table:
    best, pairs = answer.metrics[0], answer.pairs
    between = " over " if answer.measure == WIN_RATE else " − "
    caption = (
        f"{_what(answer)} by people alone, and by people with {best.name}, each with its 95 % interval for this "
        "pair and one look. λ: how much of the metric is used, from 0 to 1; a dash: it has no score of one of the "
        f"systems. Saved: of a single pair imprecise, below 0 where its interval came out wider by chance. {_HOLDS}"
    )
    if len(pairs) > PAIRS_SHOWN:
        caption = f"The first {PAIRS_SHOWN} of {len(pairs):,} pairs, in the order of ranks. {caption}"
    columns = [
        *(Column("pair"), Column("people"), Column("interval", hint="95 %"), Column(f"with {best.name}")),
        *(Column("interval", hint="95 %"), Column("λ", 2), Column("saved %", 1)),
    ]
    rows: list[list[Cell]] = [
        [
            between.join(pair.systems),
            *(pair.difference, Range(pair.low, pair.high)),
            *(own.difference, Range(own.low, own.high), own.weight, in_percent(own.saving)),
        ]
        for pair, own in list(zip(pairs, best.pairs, strict=True))[:PAIRS_SHOWN]
    ]
    return Table("metric-assisted", "Differences with a metric", caption, columns, rows, output=Output.PAGE)


def _pairs_in_files(answer: AssistedComparisons) -> Table:
    caption = (
        f"{_what(answer)} by people alone and by people with a metric, with 95 % intervals of each pair for one look; "
        f"λ is how much of the metric is used. {_HOLDS}"
    )
    names, numbers = ("metric", "system", "compared with"), ("difference", "low", "high")
    columns = [Column(name) for name in (*names, *numbers, *(f"{name} with metric" for name in numbers))]
    rows: list[list[Cell]] = [
        [
            *(metric.name, *pair.systems, pair.difference, pair.low, pair.high),
            *(own.difference, own.low, own.high, own.weight, in_percent(own.saving)),
        ]
        for metric in answer.metrics
        for pair, own in zip(answer.pairs, metric.pairs, strict=True)
    ]
    columns += [Column("λ", 2), Column("saved %", 1)]
    return Table("metric-assisted", "Differences with a metric", caption, columns, rows, output=Output.FILES)
