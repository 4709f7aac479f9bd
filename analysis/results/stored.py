"""Results as JSON, and stored reports as results.

An object of JSON has no order of its own, since PostgreSQL does not keep it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from analysis.results.result import VERSION, Result
from analysis.stats.agreement import tolerance_chance
from campaigns.contracts.protocol import DEFAULT_METHOD
from evalsite.lib.typed_json import from_json, to_json

Value = TypeVar("Value")
Report = Mapping[str, Any]
"""A result as JSON, as `document_of` returns it."""


def current(report: Report) -> Report:
    """Return a stored report in the shape of now, whatever version stored it.

    In version 1, which has no number, studies of direct assessment had their answers to questions at the top, other
    methods an `agreement` of their own each, and no answer said what scores are called. In version 2 studies did not
    say of systems and pairs what other methods do, coefficients of agreement were not apart from the numbers of what
    they are of, and no report had its sections.
    """
    version = report.get("version", 1)
    if version >= VERSION:
        return report
    found = with_shared_parts(report if version > 1 else _with_answers(report)) | {"version": VERSION}
    answers = found.get("questions", {})
    if "criteria" in (agreement := answers.get("reliability", {})):
        criteria = [one | {who: _apart(one[who]) for who in ("between", "within")} for one in agreement["criteria"]]
        found["questions"] = {**answers, "reliability": {**agreement, "criteria": criteria}}
    return found


def _apart(shared: Report) -> Report:
    """Return counts, and apart from them the coefficients."""
    coefficients = {key: value for key, value in shared.items() if key not in _NOTHING}
    return {key: shared[key] for key in _NOTHING} | {"coefficients": coefficients}


def result_of(report: Report) -> Result:
    """Return what a stored report says, whatever version made it, also where it has a ranking alone."""
    return as_result(current(report))


def as_result(report: Report) -> Result:
    """Return what a report in the shape of now says; all of it is its `own`."""
    return replace(from_json(report, Result), own=report)


def document_of(result: Result) -> dict[str, Any]:
    """Return a result as it is stored: its `own` as it is, and what all methods say, without what it does not have."""
    found = to_json(replace(result, own={}))
    summary, whole = _known(found["summary"], _EMPTY["summary"]), _known(found, _EMPTY)
    for part, name in ((summary, "systems"), (whole, "pairs"), (whole, "worker_table")):
        part |= {name: [_known(row, _OF_STUDIES) for row in part[name]]} if name in part else {}
    return {**whole, **result.own, "summary": {**summary, **result.own_summary}}


def _known(found: Report, absent: Report) -> dict[str, Any]:
    """Return what differs from what stands for nothing, and what is always there."""
    return {k: value for k, value in found.items() if k in _ALWAYS or k not in absent or value != absent[k]}


_EMPTY = to_json(Result())
_ALWAYS = ("systems", "higher_is_better", "pairs", "warnings", "notes", "settings", "fingerprint", "version")
_OF_STUDIES = dict.fromkeys(("raw", "n_outputs", "n_ratings", "reference_mean", "reference_distance", "p_studies"))


def with_shared_parts(report: Report) -> dict[str, Any]:
    """Return a report of a study with what those of other methods say of systems and of every two of them."""
    summary = report.get("summary", {})
    if "significance" not in summary:
        return dict(report)
    found, intervals = report.get("recommended", {}), report.get("intervals", {})
    ranks = {row["system"]: [row["best"], row["worst"]] for row in found.get("ranks", [])}
    scored = [row["z"] for row in summary["systems"] if row["z"] is not None]
    rows = []
    for row in summary["systems"]:
        name, z = row["system"], row["z"]
        interval, rank = intervals.get(name, [None]), None if z is None else 1 + sum(other > z for other in scored)
        shared = {"score": z, "interval": None if None in interval else list(interval), "rank": rank}
        rows.append(row | shared | {"ranks": ranks.get(name)})
    others = {"method": DEFAULT_METHOD, "higher_is_better": True, "systems": rows}
    return {**report, "summary": summary | others, "pairs": [_better_first(pair) for pair in found.get("pairs", [])]}


def _better_first(pair: Report) -> dict[str, Any]:
    """Return a pair of the recommended comparison, which is in the order of the ranking, as all methods have it."""
    sign = -1 if (pair["difference"] or 0) < 0 else 1
    difference, low, high = (None if (of := pair.get(key)) is None else sign * of for key in _SIGNED)
    return {
        "systems": pair["systems"][::sign],
        "difference": difference,
        "interval": [low, high][::sign],
        "p_holm": pair["p_holm"],
        "p_studies": (pair.get("p_studies") or [None, None])[::sign],
    }


_SIGNED = ("difference", "low", "high")


def _with_answers(report: Report) -> dict[str, Any]:
    answers = dict(report.get("questions", {}))
    others = {key: value for key, value in report.items() if key not in _ANSWERED_APART}
    if "sensitivity" in report:
        answers["sensitivity"] = _sensitivity_of_study(report["sensitivity"])
    elif "order" in answers.get("sensitivity", {}):
        answers["sensitivity"] = {"measure": "score", "lengths": {}, **answers["sensitivity"]}
    if "metrics" in report:
        answers["metrics"] = {"measure": "mean z", **report["metrics"], "is_by_system": False}
    if "assistance" in report:
        answers["assistance"] = report["assistance"]
    if study := report.get("reliability"):
        answers = {
            "reliability": _reliability_of_study(study, criteria_of(report)),
            "halves": study["halves"],
            **answers,
        }
    elif "reliability" not in answers and (criteria := _criteria_before(report)):
        answers["reliability"] = {"criteria": criteria, "n_bins": 5, "notes": []}
    return {**others, **({"questions": answers} if answers else {})}


def answers_of(report: Report) -> Mapping[str, Report]:
    """Return the answers to questions by their slugs, whatever version gave them."""
    answers: Mapping[str, Report] = current(report).get("questions", {})
    return answers


_ANSWERED_APART = ("sensitivity", "metrics", "reliability", "assistance")


def _sensitivity_of_study(found: Report) -> Report:
    """Return what studies stored of their ranking, of one system `order` and `z` alone, as the question answers it."""
    if "settings" not in found:
        return {"refused": "There are fewer than two systems with a score."}

    def renamed(part: Report) -> dict[str, Any]:
        return {("score" if key == "z" else key): value for key, value in part.items()}

    return renamed(found) | {
        "measure": "z",
        "alpha": found["alpha"] and renamed(found["alpha"]),
        "without_worker": {**found["without_worker"], "n_counting": found["without_worker"]["n_workers"]},
        "lengths": {text: renamed(of) for text, of in found["lengths"].items()},
    }


def in_order(found: Mapping[str, Value], names: Iterable[str]) -> list[tuple[str, Value]]:
    """Return the entries of a stored object, those of a list in its order, then the others sorted by name.

    >>> in_order({"ratio": 3, "nominal": 1, "ordinal": 2}, ["nominal", "ordinal", "interval"])
    [('nominal', 1), ('ordinal', 2), ('ratio', 3)]
    """
    known = [name for name in dict.fromkeys(names) if name in found]
    return [(name, found[name]) for name in (*known, *sorted(found.keys() - set(known)))]


def criteria_of(report: Mapping[str, object]) -> list[str]:
    """Return the names of a report's criteria in their order; reports of before have those of their settings."""
    listed = report.get("criterion_order")
    if isinstance(listed, list):
        return listed
    settings = report.get("settings")
    asked = settings.get("criteria", []) if isinstance(settings, dict) else []
    return [str(criterion["name"]) for criterion in asked]


_NOTHING = {"n_items": 0, "n_judgements": 0, "n_workers": 0}
_POINTS = (5, 10, 15, 20, 25, 30)
_PARTS, _OF_MARKS = {"fact_count": ("present", "correct", "missing")}, ("f1", "f1_severity", "kappa", "overlap")
_NOMINAL, _ORDINAL, _INTERVAL = "alpha_nominal", "alpha_ordinal", "alpha_interval"
_BEFORE = {
    "ordinal": ("levels", _ORDINAL),
    "ssa": ("option", _NOMINAL),
    "choice": ("option", _NOMINAL),
    "esa": ("slider", _INTERVAL),
    "fact_count": ("amount", _INTERVAL),
    "magnitude": ("number", _INTERVAL),
    "edits": ("amount", _INTERVAL),
    "preference": ("preference", _ORDINAL),
    "ranking": ("preference", _ORDINAL),
    "best_worst": ("preference", _ORDINAL),
}
"""What answers of each method are, and which α earlier versions had of them."""


def _reliability_of_study(found: Report, names: Iterable[str]) -> dict[str, Any]:
    """Return the reliability that earlier versions stored of direct assessment."""
    criteria = []
    for name, one in in_order(found["shared"], names):
        alpha = {f"alpha_{level}": value for level, value in one["krippendorff_alpha"].items()}
        icc = {f"icc_{which}": value for which, value in one["icc"].items()}
        counts = {"n_items": one["n_items"], "n_judgements": None, "n_workers": one["n_workers"]}
        between = {**counts, **alpha, **icc, "fleiss_kappa": one["fleiss_kappa"]}
        criteria.append({"name": name, "answer": "slider", "between": between, "within": _NOTHING})
    chance = [tolerance_chance(t) for t in _POINTS]
    near = found.get("tolerance")
    tolerance = near and {"unit": "points", "tolerances": list(_POINTS), "chance": chance, **near}
    kept = {"intra": found["intra"], "inter": found["inter"], "tolerance": tolerance}
    return {"criteria": criteria, "n_bins": 5, "notes": [], **kept}


def _criteria_before(report: Report) -> list[dict[str, Any]]:
    """Return the criteria of the agreement that earlier versions stored of other kinds of responses."""
    made_by, found = report.get("settings", {}).get("method", ""), report.get("agreement") or {}
    if made_by == "spans" and found.get("n_pairs"):
        between = dict.fromkeys(_NOTHING) | {key: found[key] for key in _OF_MARKS}
        return [{"name": "penalty", "answer": "marks", "between": between, "within": _NOTHING}]
    if made_by not in _BEFORE:
        return []
    several = report.get("criteria") if made_by == "choice" else None
    if several:
        named = [(one["criterion"], one.get("agreement")) for one in several]
    elif "between" in found:
        named = [("", found)]
    else:
        named = in_order(found, _PARTS.get(made_by) or criteria_of(report))
    return [one for name, of in named if of for one in _criterion_before(name, of, made_by)]


def _criterion_before(name: str, found: Report, made_by: str) -> list[dict[str, Any]]:
    answer, alpha = _BEFORE[made_by]
    who = ("between", "within")

    def renamed(one: Report, names: Mapping[str, str]) -> dict[str, Any]:
        counts = {key: one.get(key) for key in _NOTHING}
        return counts | {new: one[old] for old, new in names.items() if one.get(old) is not None}

    if made_by == "edits":
        texts = {"same": "same", "difference": "text_difference"}
        return [
            {"name": "HTER", "answer": answer, **{w: renamed(found[w], {"alpha": alpha}) for w in who}},
            {"name": "edited text", "answer": "text", **{w: renamed(found[w], texts) for w in who}},
        ]
    names = {key: key for key in ("same", "opposite", "difference")}
    names |= {"kappa": "fleiss_kappa", "alpha": alpha, "alpha_of_sets": "alpha_sets"}
    return [{"name": name, "answer": answer, **{w: renamed(found[w], names) for w in who}}]
