"""Numbers of results in words: a true minus, dashes for what is undefined, p-values as papers print them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma

from analysis.exports import file_name
from analysis.sections import Cell, Column, Range
from evalsite.lib.histograms import Histogram
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from analysis.presenters.ranking import Change

register = template.Library()
DASH = "–"


@register.filter
def number(value: float | None, decimals: int = 3) -> str:
    """Return a number with a true minus sign; a dash for None."""
    return DASH if value is None else _with_minus(f"{value:.{decimals}f}")


@register.filter
def signed(value: float | None, decimals: int = 3) -> str:
    """Return a number with its sign, a true minus or a plus; a dash for None."""
    return DASH if value is None else _with_minus(f"{value:+.{decimals}f}")


def _with_minus(text: str) -> str:
    is_zero = not text.strip("+-0.")
    return text.lstrip("-") if is_zero else text.replace("-", "−")


@register.filter
def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, as papers print it: .0312, < .0001, > .9999; a dash for None."""
    if p is None:
        return DASH
    if p < 0.0001:
        return "< .0001"
    return "> .9999" if p > 0.9999 else f"{p:.4f}".lstrip("0")


@register.filter
def cell(value: Cell, column: Column) -> str:
    """Return a cell of a section's table as a page shows it."""
    if isinstance(value, Range):
        low, high = (number(end, column.decimals) for end in value)
        return DASH if value.low is None else f"{low}{DASH}{high}"
    if value is None or isinstance(value, float):
        return p_value(value) if column.is_p else number(value, column.decimals)
    return intcomma(value) if isinstance(value, int) else value


@register.filter
def pair(row: list[Cell], columns: list[Column]) -> list[tuple[Cell, Column]]:
    """Return each cell of a row with its column."""
    return list(zip(row, columns, strict=True))


@register.filter
def figure_file(name: str) -> str:
    """Return where a figure is among the files of a run, without the ending."""
    return f"figures/{file_name(name)}"


@register.filter
def difference(change: "Change") -> str:
    """Return a difference of z with its sign; "same" where three decimals show none."""
    return DASH if change.z is None else "same" if change.z_sense == "same" else signed(change.z)


@register.filter
def places(n: int) -> str:
    """Return by how many places a system moved."""
    return counted(abs(n), "place")


@register.filter
def score_histogram(counts: Sequence[int]) -> Histogram:
    """Return counts of scores in equal steps of the scale as `{% histogram %}` draws them."""
    return Histogram(tuple(counts), 100.0)


@register.filter
def in_tenths(counts: list[int]) -> str:
    """Return a histogram of scores in words."""
    return f"Number of scores in each tenth of the scale: {', '.join(map(str, counts))}"
