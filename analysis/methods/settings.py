"""The settings of an analysis: protocol, criteria, worker test, unit. Read from a protocol, a form or a JSON file."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from analysis.data.ratings.scales import FULL, Scale
from analysis.stats.pipeline import Design
from analysis.stats.procedures import Procedure
from analysis.stats.scores import Unit
from campaigns.contracts.protocol import DEFAULT_METHOD, Counted, CriterionSpec, Protocol
from campaigns.design.composition import ANALYSED_KINDS
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.methods import methods
from campaigns.protocols import find_protocol, get_protocol, list_protocols
from campaigns.responses import get_response_kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import shorten

CUSTOM = "custom"
"""The protocol whose criteria are whatever was rated."""
LEAST_PLANNED = 2
"""A bound that holds at every look needs two workers or more."""
LONGEST_NAME, LONGEST_STATEMENT = 100, 500
"""In characters, of a criterion. Longer cells of a column of criteria are treated as texts."""
_FIELDS = {
    *("protocol", "criteria", "worker_test", "unit", "n_counts", "standardised_kinds", "excluded", "scale", "cost"),
    *("workers_planned", "personas", "corpus", "method", "options", "comparison", "groups", "weights"),
}
_CRITERION_FIELDS = {"name", "statement", "is_negative", "is_in_worker_test", "scale"}


class Cost(NamedTuple):
    """What one assignment costs, reward and fee of the platform, in a currency."""

    per_assignment: float
    currency: str = "USD"


@dataclass(frozen=True)
class RatedCriterion:
    """A criterion whose scores are analysed.

    `scale`: the least and the greatest score that workers could give; None: that of all ratings. What somebody says of
    a file goes before it (`AnalysisSettings.on_scale`).
    """

    name: str
    statement: str = ""
    is_negative: bool = False
    is_in_worker_test: bool = True
    scale: Scale | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that settings are kept with."""
        return {name: value for name, value in asdict(self).items() if name != "scale" or value is not None}


def rated_criterion(spec: CriterionSpec, method: str = DEFAULT_METHOD) -> RatedCriterion | None:
    """Return the criterion of a protocol as a method analyses it; None where the method cannot read the answers."""
    kind = get_response_kind(spec.response)
    if not methods[method].reads(kind, spec.settings):
        return None
    bounds = kind.bounds(spec.settings)
    return RatedCriterion(
        spec.name, spec.statement, spec.is_negative, spec.is_in_worker_test, None if bounds == FULL else bounds
    )


def no_scores() -> DomainError:
    """Return the error of a campaign whose answers have no scores that could be analysed."""
    return bad_settings(
        "No criterion has answers on a slider, on labelled points or as numbers between two bounds, so there is "
        "nothing to standardise. All answers are among the downloads."
    )


def nothing_read(method: str) -> DomainError:
    """Return the error of a campaign whose answers its method cannot read."""
    return bad_settings(
        f"{method} cannot read the answers on any criterion. Choose another response method in the campaign's "
        "settings. All answers are among the downloads."
    )


@dataclass(frozen=True)
class AnalysisSettings:
    """How ratings are analysed, in names; `design` turns it into codes.

    `n_counts` says which count of a system is printed as n: rated outputs, or ratings. `excluded` maps a worker, taken
    out by hand, to the reason. `scale` is the least and the greatest score that workers could give; it is mapped to
    0–100. None: 0–100, and nobody has said so. `cost` is None where nobody is paid, or nobody has said how much.
    `workers_planned` is for ratings that are looked at while they come: with it, the recommended comparison holds at
    every look, and is narrowest for so many workers. None: one look, when all ratings are there. `comparison` is the
    procedure that compares systems then; at every look it is the recommended one.
    `personas` maps each chatbot with a persona to the same one without, where both were rated. `corpus` says how long
    the turns of a corpus are that chats are compared with, as `analysis.data.dialogues.corpus.load_corpus` returns it.
    `method` is the response method (`analysis.methods`), `options` are its own. `groups` are columns of the
    file by whose groups systems are compared. `weights` is the column with what each answer weighs, because HITs were
    not drawn with equal probabilities; "" if there is none.
    """

    protocol: str
    criteria: tuple[RatedCriterion, ...]
    preset: str
    alpha: float = 0.05
    unit: str = Unit.RATING.value
    n_counts: str = Protocol.n_counts
    standardised_kinds: tuple[str, ...] = tuple(ANALYSED_KINDS)
    excluded: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None
    cost: Cost | None = None
    workers_planned: int | None = None
    personas: Mapping[str, str] = field(default_factory=dict)
    corpus: Mapping[str, Any] | None = None
    method: str = DEFAULT_METHOD
    options: Mapping[str, Any] = field(default_factory=dict)
    comparison: str = Procedure.CLUSTERED.value
    groups: tuple[str, ...] = ()
    weights: str = ""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def criterion_names(self) -> list[str]:
        """The criteria's names, in order."""
        return [criterion.name for criterion in self.criteria]

    @property
    def statements(self) -> list[str]:
        """The criteria's statements, in order: a file may name a criterion by its statement."""
        return [criterion.statement for criterion in self.criteria]

    def on_scale(self, scale: Scale | None) -> "AnalysisSettings":
        """Return these settings for scores that somebody says are on a scale; unchanged for None."""
        if scale is None:
            return self
        return replace(self, scale=scale, criteria=tuple(replace(each, scale=None) for each in self.criteria))

    def with_test(self, preset: str | None = None, alpha: float | None = None) -> "AnalysisSettings":
        """Return these settings with another worker test, or another α; unchanged for None."""
        return replace(self, preset=preset or self.preset, alpha=self.alpha if alpha is None else alpha)

    @property
    def is_scale_said(self) -> bool:
        """Whether somebody has said on which scale scores are."""
        return self.scale is not None or any(criterion.scale for criterion in self.criteria)

    @property
    def scales(self) -> list[Scale]:
        """The scale of each criterion, in order."""
        return [criterion.scale or self.scale or FULL for criterion in self.criteria]

    def design(self, workers: list[str]) -> Design:
        """Return the same settings in codes, for ratings of these workers; unknown excluded ones are left out."""
        return Design(
            is_negative=np.array([criterion.is_negative for criterion in self.criteria]),
            is_in_worker_test=np.array([criterion.is_in_worker_test for criterion in self.criteria]),
            preset=self.preset,
            alpha=self.alpha,
            unit=Unit(self.unit),
            standardised_kinds=tuple(ANALYSED_KINDS[name] for name in self.standardised_kinds),
            excluded=tuple(code for code, worker in enumerate(workers) if worker in self.excluded),
        )

    @property
    def _names_comparison(self) -> bool:
        """Whether the comparison is written down: settings of before that name none concluded by the studies' tests."""
        return self.method == DEFAULT_METHOD and self.comparison != Procedure.STUDIES

    def to_json(self) -> dict[str, Any]:
        """Return the settings as the JSON object that `from_json` reads."""
        return {
            "protocol": self.protocol,
            "criteria": [criterion.to_json() for criterion in self.criteria],
            "worker_test": {"preset": self.preset, "alpha": self.alpha},
            "unit": self.unit,
            "n_counts": self.n_counts,
            "standardised_kinds": list(self.standardised_kinds),
            "excluded": dict(self.excluded),
            **({"scale": list(self.scale)} if self.scale else {}),
            **({"cost": self.cost._asdict()} if self.cost else {}),
            **({"personas": dict(self.personas)} if self.personas else {}),
            **({"corpus": dict(self.corpus)} if self.corpus else {}),
            **({"workers_planned": self.workers_planned} if self.workers_planned else {}),
            **({"method": self.method} if {self.method, _method_of(self.protocol)} != {DEFAULT_METHOD} else {}),
            **({"options": dict(self.options)} if self.options else {}),
            **({"comparison": self.comparison} if self._names_comparison else {}),
            **({"groups": list(self.groups)} if self.groups else {}),
            **({"weights": self.weights} if self.weights else {}),
        }


def _method_of(protocol: str) -> str:
    """Return the method that settings of a protocol have if they name none."""
    return (find_protocol(protocol) or Protocol).method


def _check(settings: AnalysisSettings) -> None:
    """Raise DomainError `bad_settings` unless an analysis can be run with these settings."""
    method = methods[settings.method]()
    method.check_options(settings.options)
    if not all(settings.groups) or len(set(settings.groups)) < len(settings.groups):
        raise bad_settings("“groups” must be a list of columns, none of which is there twice.")
    names = [name.casefold() for name in settings.criterion_names]
    if not names and method.has_criteria:
        raise bad_settings("There is no criterion. Name at least one.")
    if "" in names or len(set(names)) < len(names):
        raise bad_settings("Each criterion needs a name of its own.")
    if long := [name for name in settings.criterion_names if len(name) > LONGEST_NAME]:
        raise bad_settings(
            f"The criterion “{shorten(long[0])}” has {len(long[0])} characters, a name has at most {LONGEST_NAME}. "
            "Give it a shorter name, and the file's name for it as its statement."
        )
    if settings.preset not in WORKER_TESTS:
        raise bad_settings(f"There is no worker test “{settings.preset}”. Choose one of: {', '.join(WORKER_TESTS)}.")
    if not 0 < settings.alpha < 1:
        raise bad_settings(f"α is {settings.alpha:g}; it must lie between 0 and 1, for instance 0.05.")
    if settings.unit not in [unit.value for unit in Unit]:
        raise bad_settings(f"There is no unit “{settings.unit}”. Choose rating or output.")
    if settings.comparison not in list(Procedure):
        raise bad_settings(f"There is no comparison “{settings.comparison}”. Choose one of: {', '.join(Procedure)}.")
    if settings.n_counts not in get_args(Counted):
        raise bad_settings(f"n cannot count “{settings.n_counts}”. Choose outputs or ratings.")
    if settings.workers_planned is not None and settings.workers_planned < LEAST_PLANNED:
        raise bad_settings(f"“workers_planned” is {settings.workers_planned}; it must be {LEAST_PLANNED} or more.")
    for low, high in settings.scales:
        if not (low < high and math.isfinite((high - low) * 100)):
            raise bad_settings(
                f"The scale is from {low:g} to {high:g}; the second number must be the greater one, and not too large."
            )
    if not settings.standardised_kinds or not set(settings.standardised_kinds) <= set(ANALYSED_KINDS):
        raise bad_settings(f"standardised_kinds must be some of: {', '.join(ANALYSED_KINDS)}.")
    is_tested = any(criterion.is_in_worker_test for criterion in settings.criteria)
    if settings.preset != NO_TEST and settings.criteria and not is_tested:
        raise bad_settings("No criterion is used by the worker test. Choose at least one, or no worker test.")


def from_protocol(slug: str) -> AnalysisSettings:
    """Return the presets of a protocol; raise DomainError `unknown_protocol`.

    Where the method takes the criteria from the file, there are none.
    """
    protocol = get_protocol(slug)
    method = methods[protocol.method]()
    criteria = protocol.criteria if method.has_criteria else ()
    return AnalysisSettings(
        slug,
        tuple(criterion for spec in criteria if (criterion := rated_criterion(spec))),
        protocol.worker_test if method.has_worker_test else NO_TEST,
        protocol.alpha,
        n_counts=protocol.n_counts,
        method=protocol.method,
        options=protocol.method_options,
    )


def protocols_with(names: Sequence[str]) -> tuple[list[type[Protocol]], bool]:
    """Return the protocols that have these criteria and no others, and True; else those that have more, and False.

    A criterion may be named by its statement. None without names.
    """
    wanted = {name.casefold() for name in names}
    having = []
    for protocol in list_protocols():
        texts = [{criterion.name.casefold(), criterion.statement.casefold()} for criterion in protocol.criteria]
        if wanted and wanted <= set().union(*texts):
            having.append((protocol, all(text & wanted for text in texts)))
    exact = [protocol for protocol, is_exact in having if is_exact]
    return exact or [protocol for protocol, _ in having], bool(exact)


def custom_settings(names: Sequence[str]) -> AnalysisSettings:
    """Return the presets of the protocol of one's own with these criteria; with none, its own, to be renamed.

    A name that is too long becomes the criterion's statement, and the criterion gets its beginning as name.
    """
    presets = from_protocol(CUSTOM)
    criteria: list[RatedCriterion] = []
    for name in names:
        taken = {*(other.casefold() for other in names), *(other.name.casefold() for other in criteria)}
        is_long = len(name) > LONGEST_NAME
        criteria.append(RatedCriterion(_short_name(name, taken), name) if is_long else RatedCriterion(name))
    return replace(presets, criteria=tuple(criteria)) if criteria else presets


def _short_name(name: str, taken: Collection[str]) -> str:
    """Return the beginning of a name that is too long, with a number if another criterion has it."""
    for n in count(1):
        ending = f" {n}" if n > 1 else ""
        short = shorten(name, LONGEST_NAME - len(ending)) + ending
        if short.casefold() not in taken:
            return short
    raise AssertionError


_ALWAYS_WRITTEN = {"protocol", "criteria", "worker_test", "unit", "n_counts", "standardised_kinds", "excluded"}


def from_json(data: Any, name: str = CUSTOM) -> AnalysisSettings:
    """Return the settings that a JSON object spells out.

    Only `criteria` is required, and only where the method has criteria: names, or objects with `name`, `statement`,
    `is_negative`, `is_in_worker_test`, `scale`. `worker_test` is a preset's name or `{"preset", "alpha"}`. Without
    `n_counts`, n is what the protocol of this name counts; without `method` and `options`, they are the protocol's.

    Raises DomainError `bad_settings` that names the field and what it may be.
    """
    if not isinstance(data, dict):
        raise bad_settings("A protocol is a JSON object with the field “criteria”.")
    if _has_nul(data):
        raise bad_settings("A text has a NUL character, which no database takes.")
    _refuse_unknown(data, _FIELDS, "The protocol")
    protocol = str(data.get("protocol", name))
    preset = find_protocol(protocol) or Protocol
    method = str(data.get("method", preset.method))
    has_criteria = methods[method].has_criteria
    own_test = preset.worker_test if method == preset.method and preset is not Protocol else NO_TEST
    criteria = data.get("criteria") if has_criteria else data.get("criteria", [])
    if not isinstance(criteria, list):
        raise bad_settings('“criteria” must be a list, for instance ["adequacy"].')
    test = data.get("worker_test", {})
    test = {"preset": test} if isinstance(test, str) else test
    if not isinstance(test, dict):
        raise bad_settings("“worker_test” must be a preset's name or an object with “preset” and “alpha”.")
    _refuse_unknown(test, {"preset", "alpha"}, "“worker_test”")
    scale = data.get("scale")
    kinds, excluded = data.get("standardised_kinds", list(ANALYSED_KINDS)), data.get("excluded", {})
    if not isinstance(kinds, list) or not isinstance(excluded, dict):
        raise bad_settings("“standardised_kinds” must be a list and “excluded” an object {worker: reason}.")
    options = data.get("options", preset.method_options if method == preset.method else {})
    if not isinstance(options, dict):
        raise bad_settings("“options” must be an object with the options of the method.")
    return AnalysisSettings(
        protocol=protocol,
        criteria=tuple(_criterion(entry) for entry in criteria),
        preset=str(test.get("preset", "paired-wilcoxon" if has_criteria else own_test)),
        alpha=_number(test.get("alpha", 0.05), "“alpha”", "a number between 0 and 1"),
        unit=str(data.get("unit", Unit.RATING.value)),
        n_counts=str(data.get("n_counts", preset.n_counts)),
        standardised_kinds=tuple(str(kind) for kind in kinds),
        excluded={str(worker): str(reason) for worker, reason in excluded.items()},
        scale=None if scale is None else _scale(scale),
        cost=_cost(data["cost"]) if data.get("cost") is not None else None,
        personas=_personas(data.get("personas", {})),
        corpus=_corpus(data.get("corpus")),
        workers_planned=_workers_planned(data["workers_planned"]) if data.get("workers_planned") is not None else None,
        method=method,
        options=options,
        comparison=str(data.get("comparison", _concluded_by(data, method))),
        groups=_groups(data.get("groups", [])),
        weights=str(data.get("weights", "")),
    )


def _groups(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise bad_settings('“groups” must be a list of columns, such as ["domain"].')
    return tuple(value)


def _concluded_by(data: Mapping[str, Any], method: str) -> str:
    """Return the comparison of settings that name none: of those that a version before wrote, that of the studies."""
    is_of_before = method == DEFAULT_METHOD and data.keys() >= _ALWAYS_WRITTEN
    return (Procedure.STUDIES if is_of_before else Procedure.CLUSTERED).value


def _has_nul(data: dict[str, Any]) -> bool:
    """Tell whether any text, however deep, has a NUL."""
    left: list[Any] = [data]
    while left:
        match left.pop():
            case str() as text if "\0" in text:
                return True
            case dict() as fields:
                left += [*fields, *fields.values()]
            case list() as values:
                left += values
    return False


def load_settings(protocol: str) -> AnalysisSettings:
    """Return the settings of a protocol's name or of a JSON file's path.

    Raises DomainError `unknown_protocol` (neither), `bad_settings` or `bad_json`.
    """
    path = Path(protocol)
    if path.suffix.lower() != ".json":
        return from_protocol(protocol)
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8-sig")), path.stem)
    except OSError as error:
        raise DomainError("unknown_protocol", f"Cannot read the protocol {path.name}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DomainError("bad_json", f"{path.name} is not UTF-8 text. Save it as UTF-8.") from None
    except (RecursionError, OverflowError):
        raise DomainError("bad_json", f"{path.name} nests too deep or holds a number that is too large.") from None
    except json.JSONDecodeError as error:
        raise DomainError(
            "bad_json", f"{path.name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None


def _criterion(entry: Any) -> RatedCriterion:
    if isinstance(entry, str):
        return RatedCriterion(entry.strip())
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise bad_settings("A criterion is a name, or an object with at least “name”.")
    _refuse_unknown(entry, _CRITERION_FIELDS, f"Criterion “{entry['name']}”")
    for flag in ("is_negative", "is_in_worker_test"):
        if not isinstance(entry.get(flag, False), bool):
            raise bad_settings(f"Criterion “{entry['name']}”: “{flag}” must be true or false.")
    return RatedCriterion(
        entry["name"].strip(),
        str(entry.get("statement", "")),
        entry.get("is_negative", False),
        entry.get("is_in_worker_test", True),
        None if entry.get("scale") is None else _scale(entry["scale"]),
    )


def _scale(value: Any) -> Scale:
    if not isinstance(value, list) or len(value) != len(FULL):
        raise bad_settings("“scale” must be a list of the least and the greatest score, for instance [1, 5].")
    low, high = (_number(end, "An end of “scale”", "a number") for end in value)
    return low, high


def _corpus(value: Any) -> dict[str, Any] | None:
    if value is not None and not (isinstance(value, dict) and set(value) == {"name", "dialogues", "turns", "lengths"}):
        raise bad_settings("“corpus” is not what evalsite has written. Leave it out, and upload the corpus again.")
    return value


def _personas(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        raise bad_settings(
            '“personas” must be an object {chatbot with a persona: the same without}, such as {"Ap": "A"}.'
        )
    return value


def _cost(value: Any) -> Cost:
    currency = value.get("currency", Cost._field_defaults["currency"]) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(currency, str):
        raise bad_settings('“cost” must be an object, for instance {"per_assignment": 0.99, "currency": "USD"}.')
    _refuse_unknown(value, set(Cost._fields), "“cost”")
    per_assignment = _number(value.get("per_assignment"), "“per_assignment”", "what one HIT costs, a number")
    if not 0 <= per_assignment < math.inf:
        raise bad_settings(f"“per_assignment” is {per_assignment:g}; what one HIT costs must be 0 or more.")
    return Cost(per_assignment, currency)


def _workers_planned(value: Any) -> int:
    number = _number(value, "“workers_planned”", "a whole number")
    if not number.is_integer():
        raise bad_settings(f"“workers_planned” is {number:g}; it must be a whole number.")
    return int(number)


def _number(value: Any, name: str, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_settings(f"{name} is {value!r}; it must be {what}.")
    return float(value)


def _refuse_unknown(data: dict[str, Any], known: set[str], what: str) -> None:
    if unknown := sorted(set(data) - known):
        raise bad_settings(f"{what} has no field “{unknown[0]}”. The fields are: {', '.join(sorted(known))}.")


def bad_settings(message: str) -> DomainError:
    """Return the error of settings that cannot be."""
    return DomainError("bad_settings", message)
