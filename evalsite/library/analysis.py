"""Analyses: ranking, comparisons, workers, and the answer to each question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from analysis.data.dialogues.corpus import load_corpus
from analysis.data.ratings.sources import load_sources
from analysis.methods import OPTIONS
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import draw_scores
from analysis.metrics.loading import load_segment_scores
from analysis.questions import analyse_fully
from analysis.results import exports
from analysis.results.answers import Agreement, Refusal, SurvivingRanking, read_answer
from analysis.results.reading import completed, concluded, printed
from analysis.results.replication import RunAgreement, compare_runs
from analysis.results.result import Result
from analysis.results.sections import Figure, Output, Picture
from analysis.results.stored import document_of
from evalsite.lib.errors import DomainError
from evalsite.lib.typed_json import to_json
from evalsite.library.data import Data, Method, read, response_method
from evalsite.library.frames import Drawing, Frame
from evalsite.library.looks import Looks, take_looks
from evalsite.library.measures import MetricsAgainstPeople, Reliability, metrics
from evalsite.library.sources import as_file

Progress = Callable[[str], None]
Named = TypeVar("Named", Frame, Drawing)
_RANKING = "ranking"


class Analysis:
    """What `analyse` returns: what responses say of systems and workers. Print it to read its findings.

    `first` has findings, systems, pairs and workers. Questions, tables and figures, which take longer, are made when
    one of them is first asked for: then `result` has all.
    """

    def __init__(
        self,
        data: Data,
        responses: Any,
        settings: AnalysisSettings,
        first: Result,
        *,
        complete: Callable[[], Result] | None = None,
        original: "Analysis | None" = None,
    ) -> None:
        self.data: Data = data
        self.responses: Any = responses
        self.settings: AnalysisSettings = settings
        self.first: Result = first
        self.original: Analysis | None = original
        self._complete = complete

    @cached_property
    def result(self) -> Result:
        """All that is said of the responses; of a brief analysis what it has."""
        return self._complete() if self._complete else self.first

    def __repr__(self) -> str:
        return "\n".join([*self.findings, "", repr(self.systems)])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{finding}</p>" for finding in self.findings) + self.systems._repr_html_()

    @property
    def findings(self) -> list[str]:
        """What is found, in at most three sentences."""
        return self.first.findings

    @property
    def notes(self) -> list[str]:
        """What is surprising about the responses, a sentence each."""
        return [*(warning.message for warning in self.first.warnings), *self.first.notes]

    @property
    def systems(self) -> Frame:
        """The systems, best first: score, 95 % interval, rank and possible ranks, and how much was counted (`n`)."""
        rows = self.first.summary.systems
        intervals = [row.interval or (None, None) for row in rows]
        ranks = [row.ranks or (None, None) for row in rows]
        return Frame.of(
            "systems",
            {
                "system": [row.system for row in rows],
                "score": [row.score for row in rows],
                "low": [low for low, _ in intervals],
                "high": [high for _, high in intervals],
                "rank": [row.rank for row in rows],
                "best_rank": [best for best, _ in ranks],
                "worst_rank": [worst for _, worst in ranks],
                "n": [row.n for row in rows],
            },
            f"Systems by {self.first.words.one}, with 95 % intervals.",
        )

    @property
    def pairs(self) -> Frame:
        """Every two systems: their difference with its 95 % interval, p, p after Holm's correction, and a verdict."""
        pairs = self.first.pairs
        return Frame.of(
            "pairs",
            {
                "better": [pair.systems[0] for pair in pairs],
                "worse": [pair.systems[1] for pair in pairs],
                "difference": [pair.difference for pair in pairs],
                "low": [pair.interval[0] for pair in pairs],
                "high": [pair.interval[1] for pair in pairs],
                "p": [pair.p for pair in pairs],
                "p_holm": [pair.p_holm for pair in pairs],
                "differs": [pair.differs for pair in pairs],
            },
            "Pairs of systems; two differ where p_holm is below .05.",
        )

    @property
    def workers(self) -> Frame:
        """Every worker: p of the worker test, the verdict, and how much they rated."""
        workers = self.first.workers
        return Frame.of(
            "workers",
            {
                "worker": [row.worker for row in workers],
                "verdict": [row.state for row in workers],
                "counts": [row.is_counted for row in workers],
                "p": [row.p for row in workers],
                "n_ratings": [row.n_ratings for row in workers],
                "n_assignments": [row.n_assignments for row in workers],
                "mean": [row.mean for row in workers],
                "sd": [row.sd for row in workers],
            },
            "Workers, by name.",
        )

    # --- Tables and figures

    @property
    def tables(self) -> list[Frame]:
        """Every table of the result, as pages and files have them."""
        return [Frame(table) for section in self.result.sections for table in section.tables]

    def table(self, name: str) -> Frame:
        """Return the table of a name; raise KeyError with the names there are."""
        return _named(self.tables, name, "table")

    @property
    def figures(self) -> list[Drawing]:
        """The ranking with its intervals, and every figure of the result."""
        texts = exports.dump_json(document_of(self.result))
        return [self._ranking, *(Drawing(figure, texts) for figure in self.result.figures)]

    @property
    def _ranking(self) -> Drawing:
        measure = self.first.words.one
        scored = [row for row in self.first.summary.systems if row.score is not None]
        alt = f"{measure} of each system, with 95 % intervals; `systems` has the numbers."
        figure = Figure(_RANKING, "Systems", Picture.of(draw_scores, scored, measure), alt)
        return Drawing(figure, exports.dump_json(document_of(self.first)))

    def figure(self, name: str = _RANKING) -> Drawing:
        """Return the figure of a name, by default that of the ranking; raise KeyError with the names there are."""
        return self._ranking if name == _RANKING else _named(self.figures, name, "figure")

    # --- Questions

    def answer(self, question: str, kind: type[Any]) -> Any:
        """Return the answer to a question as a dataclass; raise DomainError `refused` with why it cannot be asked."""
        answer = read_answer(self.result.questions, question, kind)
        if answer is None or isinstance(answer, Refusal):
            raise DomainError("refused", answer.refused if answer else f"“{question}” was not asked.")
        return answer

    def reliability(self) -> Reliability:
        """Return how far workers agree: α at the level that fits, ICC, κ and others."""
        return Reliability(self.answer("reliability", Agreement))

    def sensitivity(self) -> SurvivingRanking:
        """Return what becomes of the ranking by other α, without each worker, by other units and standardisation."""
        found: SurvivingRanking = self.answer("sensitivity", SurvivingRanking)
        return found

    def metrics(self, scores: Any) -> MetricsAgainstPeople:
        """Return how far scores of metrics, as `metrics` reads them, judge systems and segments as these people do."""
        return metrics(self.data, scores)

    def compare(self, other: "Analysis") -> RunAgreement:
        """Return how far another analysis of the same systems agrees: correlations, and the share of same conclusions.

        This one is the original. Raises DomainError `other_method` where two methods made them.
        """
        if self.settings.method != other.settings.method:
            raise DomainError("other_method", "Two analyses are compared that one response method made.")
        return compare_runs(self.first, other.first)

    def looks(self, order: Sequence[str] = (), *, every: int | None = None) -> Looks:
        """Return which pairs of systems would have been decided after how many workers, by bounds that hold at every
        look (METHOD §5, docs/method/looking-early.md).

        Parameters
        ----------
        order : list of str, optional
            The workers as they came; by default by their first rows in the file.
        every : int, optional
            After how many workers a look is taken; by default so that there are at most 50. The last is after all.

        Bounds are narrowest for `workers_planned` of the analysis, or else for all workers there are.

        Raises
        ------
        DomainError
            `no_order` where the file has no column of workers, `bad_order` where `order` names others, `bad_step`.

        Examples
        --------
        >>> rows = [(f"w{k}", s, f"d{k % 9}", v + k % 3) for k in range(9) for s, v in (("a", 1), ("b", 4 - k % 2))]
        >>> ratings = [dict(zip(("worker", "system", "source", "score"), row)) for row in rows]
        >>> looks = analyse(ratings, brief=True).looks(every=3)
        >>> looks.course["n_decided"]
        [0, 1, 1]
        """
        return take_looks(replace(self.data, settings=self.settings), self.responses, self.first, order, every)

    # --- Files

    def to_json(self) -> dict[str, Any]:
        """Return findings, systems, pairs, groups and style as `evalsite analyse --format json` prints them."""
        return printed(self.first)

    def write(self, folder: str | Path, *, figures: bool = True) -> Path:
        """Write the report, tables (CSV, LaTeX, Excel) and figures (SVG, PDF, PNG) into a folder; return its path."""
        folder = Path(folder)
        exports.write_report(folder, self.result)
        (folder / exports.WORKBOOK).write_bytes(exports.to_xlsx(self.result.tables_in(Output.FILES)))
        for name, content in response_method(self.settings).files(self.responses).items():
            (folder / name).write_text(content, encoding="utf-8", newline="")
        if figures:
            exports.write_figures(folder, self.result)
        return folder


def _named(things: Sequence[Named], name: str, what: str) -> Named:
    for thing in things:
        if thing.name == name:
            return thing
    raise KeyError(f"There is no {what} “{name}”. There are: {', '.join(thing.name for thing in things)}.")


def analyse(
    data: Any,
    method: Method | None = None,
    *,
    by: str | Sequence[str] = (),
    worker_test: str | None = None,
    alpha: float | None = None,
    unit: str | None = None,
    comparison: str | None = None,
    style: str | None = None,
    workers_planned: int | None = None,
    original: Any = None,
    metrics: Any = None,
    sources: Any = None,
    dialogues: Any = None,
    assignments: Any = None,
    corpus: Any = None,
    brief: bool | None = None,
    progress: Progress = lambda stage: None,
) -> Analysis:
    """Return what responses say: the whole analysis of a file, as the command line and the site compute it.

    Parameters
    ----------
    data : Data, or whatever `read` takes
    method : str, Path or dict, optional
        As of `read`; by default as the responses were read.
    by : str or list of str, optional
        Columns by whose groups systems are compared.
    worker_test, alpha : str, float, optional
        The preset of the worker test, and the α at which workers pass; by default the protocol's.
    unit, comparison : str, optional
        What one observation is, and the procedure that compares systems.
    style : {"beside", "adjust"}, optional
        Of votes: "adjust" ranks systems with the style of outputs, such as their length, taken out of strengths.
    workers_planned : int, optional
        Of responses that are looked at while they come: how many workers there will be.
    original : Analysis or whatever `read` takes, optional
        The run that these responses replicate.
    metrics, sources, dialogues, assignments, corpus : path or table, optional
        Scores of metrics, how many words texts have, the chats that were rated, working times, dialogues to compare
        with: as the options of `evalsite analyse`.
    brief : bool, optional
        Whether ranking, comparisons and workers are enough: no questions, tables or figures. If not, these are made at
        once; by default when one of them is first asked for.
    progress : callable
        Called with what is done now.

    Raises
    ------
    DomainError
        With what is wrong with the responses or the settings, and how to fix it; `unused_option` for something that
        the method would not use.

    Examples
    --------
    >>> result = analyse([{"worker": w, "system": s, "source": d, "score": v} for w, s, d, v in SCORES])
    >>> result.systems["system"]
    ['beta', 'alpha']
    >>> print(result.pairs.columns)
    ['better', 'worse', 'difference', 'low', 'high', 'p', 'p_holm', 'differs']
    """
    data = data.with_method(method) if isinstance(data, Data) else read(data, method)
    groups = (by,) if isinstance(by, str) else tuple(by)
    chosen: dict[str, Any] = {"worker_test": worker_test, "alpha": alpha, "unit": unit, "comparison": comparison}
    chosen |= {"groups": groups, "style": style, "workers_planned": workers_planned}
    others = {"metrics": metrics, "sources": sources, "dialogues": dialogues, "assignments": assignments}
    _refuse_unused(data, {**chosen, **others, "corpus": corpus, "score_columns": data.score_columns})
    settings = _changed(data.settings, chosen)
    if corpus is not None:
        settings = replace(settings, corpus=load_corpus(_file(corpus, data)))
    extras = load_extras(data, {name: source for name, source in others.items() if source is not None})
    found = response_method(settings)
    is_read = settings == data.settings and not extras
    responses = data.responses if is_read else found.read(data.file(extras), settings)
    replicated = None if original is None else _original(original, data, settings)

    def with_original(result: Result) -> Result:
        if replicated is None:
            return result
        return replace(result, own={**result.own, "replication": to_json(compare_runs(replicated.first, result))})

    def complete() -> Result:
        others = extras.get("metrics"), extras.get("sources", ())
        return completed(with_original(analyse_fully(found, responses, settings, progress, *others)))

    if brief is False or (brief is None and extras):  # what else is read may be refused
        return Analysis(data, responses, settings, complete(), original=replicated)
    first = concluded(with_original(found.analyse(responses, settings, progress, brief=True)))
    return Analysis(data, responses, settings, first, complete=None if brief else complete, original=replicated)


def _changed(settings: AnalysisSettings, chosen: Mapping[str, Any]) -> AnalysisSettings:
    """Return settings with what somebody chose, and the rest as it is."""
    changes = {name: value for name, value in chosen.items() if value not in (None, ())}
    if "worker_test" in changes:
        changes["preset"] = changes.pop("worker_test")
    if "style" in changes:
        changes["options"] = {**settings.options, "style": changes.pop("style")}
    return replace(settings, **changes)


def _original(original: Any, data: Data, settings: AnalysisSettings) -> "Analysis":
    """Return the analysis of the run that others replicate; of a file, as they are read, without groups."""
    if isinstance(original, Analysis):
        return original
    without_groups = replace(settings, groups=())
    return analyse(replace(data, path=_file(original, data), settings=without_groups, readings=[]), brief=True)


def _refuse_unused(data: Data, given: Mapping[str, Any]) -> None:
    """Raise DomainError for an option that the method would not use."""
    method = response_method(data.settings)
    for name in OPTIONS:
        if name not in method.takes and given.get(name) not in (None, (), []):
            option = name.replace("_", "-")
            raise DomainError("unused_option", f"“{option}” says nothing about {method.slug}. Leave it out.")


def _file(source: Any, data: Data) -> Path:
    return as_file(source, data.folder.path) if data.folder else Path(source)


def load_extras(data: Data, sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else a method reads: scores of metrics and words of sources loaded, files of chats as they are."""
    extras: dict[str, Any] = {name: _file(source, data) for name, source in sources.items()}
    if path := extras.get("metrics"):
        extras["metrics"] = load_segment_scores(path, has_metrics=True, encoding=data.choices.for_file(path).encoding)
    if path := extras.get("sources"):
        extras["sources"] = load_sources(path, data.choices.encoding)
    return extras
