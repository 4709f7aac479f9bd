"""Answers chosen from options: shares, paired tests of systems, and labels of items from several workers."""

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.other_tools import Wanted
from analysis.plain_rows.loading import PlainRows, RowColumn, load_rows
from analysis.response_methods import Progress, Report, ResponseMethod, ResponsesFile
from analysis.response_methods.choice_sections import sections_of_choices
from analysis.response_methods.clusters import explain_single, with_several
from analysis.response_methods.system_scores import SystemScores, closing, list_pairs, summarise_systems
from analysis.response_methods.worker_agreement import describe_agreement
from analysis.sections import Section
from analysis.settings import AnalysisSettings
from analysis.stats.agreement import Level
from analysis.stats.labels import Labels, count_answers, dawid_skene, mace, majority
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.segment_means import clustered_means
from analysis.stats.shares import binomial_p, exact_interval, mcnemar_test
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.writing import write_csv
from evalsite.lib.words import counted, listed

CRITERION = "answer"
_COLUMNS = (
    RowColumn(("answer", "label", "choice", "choices", "option", "response", "score"), is_number=False),
    RowColumn(("correct", "good", "gold", "key"), is_number=False, is_required=False),
    RowColumn(("seconds", "response_time"), is_required=False),
)
_SEPARATOR = re.compile(r"\s*[;|]\s*")
_YES = ("yes", "true", "1")
_YES_OR_NO = {*_YES, "no", "false", "0"}
_MOST_OPTIONS = 100


@dataclass(frozen=True)
class Choices:
    """Answers: rows, the options in order, and which of them each row chose.

    `chosen`: bool, (n_distinct, n_options), of the different answers; `answer`: int, (n,), the place of each row's in
    it. `correct`: the same of what is correct, or None where the file does not say.
    """

    rows: PlainRows
    options: list[str]
    chosen: NDArray[np.bool_]
    answer: Codes
    correct: NDArray[np.bool_] | None

    @property
    def has_several(self) -> bool:
        """Whether some answer has several options, or none."""
        return bool((self.chosen.sum(axis=1) != 1).any())

    @cached_property
    def labelled(self) -> "Labelled | None":
        """Labels of items; None unless some item was answered by several workers."""
        return label_items(self)


@dataclass(frozen=True)
class Labelled:
    """Items that are labelled: of one source and system, and where answers may have several options, each option.

    `item`: int, (n_items,), codes of source and system of each item, and its option, −1 where the label is the option.
    `names` are those of labels.
    """

    source: Codes
    system: Codes
    option: Codes
    names: list[str]
    n_answers: NDArray[np.int64]
    majority: NDArray[np.int64]
    dawid_skene: Labels
    mace: Labels


class Choice(ResponseMethod[Choices]):
    """The share of a system's answers that are good, where it is known which are; shares of all options."""

    slug = "choice"
    title = "Options"
    summary = "Shares of good answers and of options, and labels from several workers."
    table = "answers"
    options = ("options", "good", "chance")

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `options`: all of them, in order; `good`: those that are good; `chance`: a share, to compare."""
        super().check_options(options)
        for name in ("options", "good"):
            values = options.get(name, ["x"])
            if not isinstance(values, list) or not values or not all(isinstance(each, str) and each for each in values):
                raise _bad(f"“{name}” must be a list of options, such as [“yes”, “no”].")
        chance = options.get("chance", 0.5)
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance < 1:
            raise _bad("“chance” must be a share between 0 and 1.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Choices:
        """Return the answers of a file."""
        rows = load_rows(
            file.path,
            _COLUMNS,
            criterion=CRITERION,
            of_tools=Wanted.SCORES,
            **file.reading,
        )
        if len(rows.criteria) > 1:
            raise DomainError(
                "several_criteria",
                f"The file has answers to {listed(rows.criteria)}. Choose one: --columns score={rows.criteria[0]} in a "
                "file of another tool; leave out the rows of the others in your own.",
            )
        return read_choices(rows, settings.options.get("options"))

    def analyse(
        self, data: Choices, settings: AnalysisSettings, on_progress: Progress = lambda _: None, *, brief: bool = False
    ) -> dict[str, Any]:
        """Return shares, paired tests and labels."""
        rows, n = data.rows, len(data.rows.systems)
        is_good, good = _good(data, settings.options.get("good"))
        groups = with_several({"worker": rows.worker, "source": rows.source})
        n_of = np.bincount(rows.system, minlength=n)
        shares = _shares(data, n_of)
        value = np.zeros(rows.n) if is_good is None else is_good.astype(float)
        found = clustered_means(value, rows.system, n, None, groups)
        unknown = np.full(n, np.nan)
        has_score = is_good is not None
        scores = SystemScores(
            rows.systems,
            found.mean if has_score else unknown,
            found.low if has_score else unknown,
            found.high if has_score else unknown,
            n_of,
            found.pairs,
            higher_is_better=True,
            criteria={name: shares[:, k] / n_of for k, name in enumerate(data.options)},
        )
        summary = summarise_systems(self.slug, settings.protocol, scores) | {
            "n_workers": len(rows.workers),
            "n_answers": rows.n,
            "options": data.options,
            "good": good,
            "clusters": dict(found.n_clusters),
        }
        notes = [] if has_score else [_UNKNOWN]
        notes += explain_single(found.n_clusters)
        is_one_of_many = len(data.options) > 1 and not data.has_several
        chance = settings.options.get("chance", 1 / len(data.options) if is_one_of_many else None)
        report = {
            "summary": summary,
            "pairs": list_pairs(scores) if has_score else [],
            "shares": _list_shares(data, shares, n_of, chance, scores.order),
            "chance": chance,
            "seconds": _seconds(rows),
            **closing(settings, rows.fingerprint, rows.warnings, notes),
        }
        if brief:
            return report
        paired = _paired(rows, is_good, scores.order) if is_good is not None else []
        labels = None if data.labelled is None else _agreement(data.labelled, rows)
        return report | {"paired": paired, "labels": labels, "agreement": _agreement_of_workers(data)}

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking, pairs, shares, paired tests, and labels with the workers."""
        return sections_of_choices(report)

    def headline(self, report: Report) -> str:
        """Return how many answers there are."""
        summary = report["summary"]
        return f"{counted(summary['n_workers'], 'worker')} gave {counted(summary['n_answers'], 'answer')}."

    def files(self, data: Choices) -> Mapping[str, str]:
        """Return the label of each item, by majority, Dawid & Skene and MACE."""
        found = data.labelled
        return {} if found is None else {"labels.csv": _write_labels(found, data)}


def _agreement_of_workers(data: Choices) -> dict[str, Any] | None:
    """Return how far workers choose the same of one output; None without sources, or where nothing was chosen twice."""
    rows = data.rows
    if np.unique(rows.source).size < 2:
        return None
    _, category = np.unique(data.chosen, axis=0, return_inverse=True)
    _, item = np.unique(rows.source.astype(np.int64) * len(rows.systems) + rows.system, return_inverse=True)
    value = category.reshape(-1)[data.answer].astype(float)
    return describe_agreement(value, item, rows.worker, level=Level.NOMINAL)


_UNKNOWN = (
    "Which answers are good is not known, so systems have no score, only shares of options: name the good ones in the "
    "option “good”, or those of each item in a column “correct”."
)


def _bad(message: str) -> DomainError:
    return DomainError("bad_settings", message)


def read_choices(rows: PlainRows, options: Sequence[str] | None) -> Choices:
    """Return which options the answers have; raise DomainError for one that is not in `options`, or too many."""
    answers = rows.text["answer"]
    correct = rows.text.get("correct")
    if correct and not any(correct.labels):
        correct = None
    parts = [_split(label) for label in answers.labels]
    of_correct = [_split(label) for label in correct.labels] if correct else []
    named = sorted({name for each in [*parts, *of_correct] for name in each})
    names = list(options) if options else named
    key = str.casefold if options else str
    place = {key(name): k for k, name in enumerate(names)}
    if foreign := [name for name in named if key(name) not in place]:
        raise DomainError("bad_option", f"“{shorten(foreign[0])}” is none of the options: {', '.join(names)}.")
    if not names:
        raise DomainError("no_options", "No answer names an option. An answer of none of them is an option, too.")
    if len(names) > _MOST_OPTIONS:
        raise DomainError(
            "too_many_options",
            f"There are {len(names):,} different answers, and at most {_MOST_OPTIONS} options. Texts are no options; "
            "several options in a cell are separated by “;” or “|”.",
        )
    chosen = _matrix(parts, place, key)
    goal = _matrix(of_correct, place, key)[correct.codes] if correct else None
    return Choices(rows, names, chosen, answers.codes, goal)


def _split(label: str) -> list[str]:
    """Return the options of a cell: a JSON list, or names with “;” or “|” between them."""
    if label.startswith("["):
        try:
            found = json.loads(label)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return [each.strip() for each in found]
    return [part for part in _SEPARATOR.split(label) if part]


def _matrix(parts: Sequence[Sequence[str]], place: Mapping[str, int], key: Any) -> NDArray[np.bool_]:
    found = np.zeros((len(parts), len(place)), bool)
    for row, names in enumerate(parts):
        found[row, [place[key(name)] for name in names]] = True
    return found


def _good(data: Choices, asked: Sequence[str] | None) -> tuple[NDArray[np.bool_] | None, list[str] | None]:
    """Return whether each answer is good, (n,), and which options are: all that it chose are, and it chose one."""
    known = [name.casefold() for name in data.options]
    if asked is None and data.correct is not None:
        chosen = data.chosen[data.answer]
        return np.asarray(chosen.any(axis=1) & ~(chosen & ~data.correct).any(axis=1)), None
    if asked is None and set(known) <= _YES_OR_NO:
        asked = [name for name in data.options if name.casefold() in _YES]
    if asked is None:
        return None, None
    if unknown := [name for name in asked if name.casefold() not in known]:
        raise _bad(f"“good” names “{unknown[0]}”. The options are: {', '.join(data.options)}.")
    is_good = np.array([name in {each.casefold() for each in asked} for name in known])
    good = np.asarray(data.chosen.any(axis=1) & ~(data.chosen & ~is_good).any(axis=1))[data.answer]
    return good, list(asked)


def _shares(data: Choices, n_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each system's answers have each option, (n_systems, n_options)."""
    cells = count_answers(data.rows.system, data.answer, n_of.size, len(data.chosen))
    found: NDArray[np.int64] = cells @ data.chosen.astype(np.int64)
    return found


def _list_shares(
    data: Choices, shares: NDArray[np.int64], n_of: NDArray[np.int64], chance: float | None, order: Sequence[int]
) -> list[dict[str, Any]]:
    low, high = exact_interval(shares, np.broadcast_to(n_of[:, None], shares.shape))
    return [
        {
            "system": data.rows.systems[code],
            "option": name,
            "count": int(shares[code, k]),
            "n": int(n_of[code]),
            "share": or_none(shares[code, k] / n_of[code]),
            "interval": [or_none(low[code, k]), or_none(high[code, k])],
            "p": None if chance is None else or_none(binomial_p(int(shares[code, k]), int(n_of[code]), chance)),
        }
        for code in order
        for k, name in enumerate(data.options)
    ]


def _seconds(rows: PlainRows) -> dict[str, list[float | None]] | None:
    """Return median and mean seconds of an answer to each system; None where the file has no times."""
    if "seconds" not in rows.numbers:
        return None
    seconds = rows.numbers["seconds"]
    found: dict[str, list[float | None]] = {}
    for code, name in enumerate(rows.systems):
        own: Floats = seconds[(rows.system == code) & ~np.isnan(seconds)]
        found[name] = [float(np.median(own)), float(own.mean())] if own.size else [None, None]
    return found


def _paired(rows: PlainRows, is_good: NDArray[np.bool_], order: Sequence[int]) -> list[dict[str, Any]]:
    """Return McNemar's test of every two systems that share a worker and a source."""
    found = mcnemar_test(rows.system, rows.judgement, is_good, len(rows.systems))
    return [
        {
            "systems": [rows.systems[a], rows.systems[b]],
            "n": int(found.n_shared[a, b]),
            "only": [int(found.only[a, b]), int(found.only[b, a])],
            "p": or_none(found.p_value[a, b]),
            "p_holm": or_none(found.holm[a, b]),
        }
        for a, b in combinations(order, 2)
        if found.n_shared[a, b] and len(rows.sources) > 1
    ]


# --- Labels of items


def label_items(data: Choices) -> Labelled | None:
    """Return labels of every output of a source; None unless some is answered by several workers."""
    rows = data.rows
    output = rows.source.astype(np.int64) * len(rows.systems) + rows.system
    outputs, of_row = np.unique(output, return_inverse=True)
    if len(rows.workers) < 2 or outputs.size == rows.n:
        return None
    n_options = len(data.options)
    if data.has_several:
        item = (of_row[:, None] * n_options + np.arange(n_options)).ravel()
        answer, worker = data.chosen[data.answer].ravel().astype(np.int64), np.repeat(rows.worker, n_options)
        names, n_items = ["no", "yes"], outputs.size * n_options
        first, option = np.divmod(np.arange(n_items), n_options)
    else:
        item, worker, names, n_items = of_row, rows.worker, data.options, outputs.size
        answer = data.chosen.argmax(axis=1)[data.answer]
        first, option = np.arange(n_items), np.full(n_items, -1)
    counts = count_answers(item, answer, n_items, len(names))
    arrays = (item, worker, answer, n_items, len(rows.workers), len(names))
    source, system = np.divmod(outputs[first], len(rows.systems))
    labels = dawid_skene(*arrays), mace(*arrays)
    return Labelled(source, system, option, names, counts.sum(axis=1), majority(counts), *labels)


def _agreement(found: Labelled, rows: PlainRows) -> dict[str, Any]:
    """Return how often the three agree, over items with a majority, and what they say of workers."""
    of = {"majority": found.majority, "Dawid–Skene": found.dawid_skene.label, "MACE": found.mace.label}
    has_majority = found.majority >= 0
    return {
        "n_items": int(found.majority.size),
        "n_without_majority": int((~has_majority).sum()),
        "agreement": [
            {"methods": [a, b], "share": or_none((of[a] == of[b])[has_majority].mean()) if has_majority.any() else None}
            for a, b in combinations(of, 2)
        ],
        "workers": [
            {
                "worker": name,
                "n": int(n),
                "dawid_skene": or_none(found.dawid_skene.ability[code]),
                "mace": or_none(found.mace.ability[code]),
            }
            for code, (name, n) in enumerate(
                zip(rows.workers, np.bincount(rows.worker, minlength=len(rows.workers)), strict=True)
            )
        ],
    }


def _write_labels(found: Labelled, data: Choices) -> str:
    """Return a CSV file of the labels."""
    names = [*found.names, ""]  # −1, the last, is no majority
    several = [*data.options, ""]
    of_both = (found.dawid_skene, found.mace)
    probability = [each.posterior.max(axis=1) for each in of_both]
    rows = []
    for k in range(found.majority.size):
        row: list[Any] = [data.rows.sources[found.source[k]], data.rows.systems[found.system[k]]]
        row += [several[found.option[k]], int(found.n_answers[k]), names[found.majority[k]]]
        for each, p in zip(of_both, probability, strict=True):
            row += [names[each.label[k]], round(float(p[k]), 4)]
        rows.append(row)
    stream = io.StringIO()
    write_csv(stream, _LABEL_COLUMNS, rows)
    return stream.getvalue()


_LABEL_COLUMNS = ("source", "system", "option", "n", "majority", "dawid_skene", "p_dawid_skene", "mace", "p_mace")
