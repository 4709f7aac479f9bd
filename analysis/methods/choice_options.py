"""Options of the method of choices: of the only criterion, or of each of several by its name."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from analysis.methods.settings import bad_settings
from evalsite.lib.errors import DomainError
from evalsite.lib.words import listed

OPTIONS, GOOD, CHANCE = "options", "good", "chance"


class OfCriterion(NamedTuple):
    """What is said of one criterion: all options, the good ones, and what shares are compared with; None if nothing."""

    options: list[str] | None = None
    good: list[str] | None = None
    chance: float | None = None


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each for each in value)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


_LIST = 'a list of options, such as ["yes", "no"]'
_ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    OPTIONS: (_is_list, _LIST),
    GOOD: (_is_list, _LIST),
    CHANCE: (_is_share, "a share between 0 and 1"),
}
NAMES = tuple(_ALLOWED)


def check_values(options: Mapping[str, Any]) -> None:
    """Raise DomainError `bad_settings` unless each is one value, or an object with a value for criteria by name."""
    for name, (is_right, what) in _ALLOWED.items():
        value = options.get(name)
        if name not in options:
            continue
        if not isinstance(value, dict):
            if not is_right(value):
                raise bad_settings(f"“{name}” must be {what}; of several criteria, an object with one for each.")
            continue
        if not value:
            raise bad_settings(f"“{name}” is an object without a criterion. Name one, or leave “{name}” out.")
        if same := _same(value):
            raise bad_settings(f"“{name}” names one criterion twice: {same}. Write it once.")
        for criterion, of in value.items():
            if not is_right(of):
                raise bad_settings(f"“{name}” of the criterion “{criterion}” must be {what}.")


def refuse_same_criteria(criteria: Collection[str]) -> None:
    """Raise DomainError `same_criterion` for two criteria of a file whose names differ in capital letters alone."""
    if same := _same(criteria):
        message = f"The criteria {same} differ in capital letters alone. Write them alike in the file."
        raise DomainError("same_criterion", message)


def _same(names: Collection[str]) -> str:
    """Return the first two names that differ in capital letters alone, in words; "" if there are none."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(name.casefold(), name), name) for name in names)
    return next((f"“{one}” and “{other}”" for one, other in pairs if one != other), "")


def by_criterion(
    options: Mapping[str, Any], criteria: Sequence[str], others: Collection[str] = ()
) -> dict[str, OfCriterion]:
    """Return what the options say of each of these criteria, by its name.

    `others` may be named, too: criteria that nobody has answered. Raises DomainError `bad_settings` for any further
    one, and for a value without a criterion where there are several.
    """
    known = list(dict.fromkeys([*criteria, *others]))
    values = {name: _values(name, options.get(name), criteria, known) for name in NAMES}
    return {each: OfCriterion(**{name: values[name].get(each.casefold()) for name in NAMES}) for each in criteria}


def _values(name: str, value: Any, criteria: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """Return the values of an option by criterion, in small letters."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        if len(criteria) > 1:
            raise bad_settings(
                f"“{name}” does not say of which criterion it is, and there are several: {listed(criteria)}. Write "
                f'an object with one for each, such as {{"{name}": {{"{criteria[0]}": {_EXAMPLES[name]}}}}}.'
            )
        return {criteria[0].casefold(): value}
    there = {criterion.casefold() for criterion in known}
    if unknown := [criterion for criterion in value if criterion.casefold() not in there]:
        raise bad_settings(f"“{name}” names the criterion “{unknown[0]}”. The criteria are: {', '.join(known)}.")
    return {criterion.casefold(): of for criterion, of in value.items()}


_EXAMPLES = {OPTIONS: '["yes", "no"]', GOOD: '["yes"]', CHANCE: "0.5"}


def unknown_good(good: Sequence[str], options: Sequence[str], criterion: str = "") -> DomainError | None:
    """Return the error of the first good option that is none of the options; None if all are.

    `criterion`: the name of theirs, where there are several.
    """
    known = {name.casefold() for name in options}
    unknown = next((name for name in good if name.casefold() not in known), None)
    if unknown is None:
        return None
    if criterion:
        said = f"“good” names “{unknown}” for the criterion “{criterion}”. Its options are: {', '.join(options)}."
        return bad_settings(said)
    return bad_settings(f"“good” names “{unknown}”. The options are: {', '.join(options)}.")


def with_offered(options: Mapping[str, Any], offered: Mapping[str, Sequence[str] | None]) -> Mapping[str, Any]:
    """Return the options of a campaign with `options`: what each criterion offers, by its name; None where outputs
    have options of their own.

    Those of one criterion of which nothing else is said stay those that answers have, as in results of before. Raises
    DomainError `bad_settings` for an option that does not fit the criteria.
    """
    if not offered or (len(offered) == 1 and not options):
        return options
    said = by_criterion(options, list(offered))
    for criterion, names in offered.items():
        if names and (error := unknown_good(said[criterion].good or (), names, criterion)):
            raise error
    known = {criterion: names or said[criterion].options for criterion, names in offered.items()}
    there = {criterion: list(names) for criterion, names in known.items() if names}
    return {**options, OPTIONS: there} if there else options
