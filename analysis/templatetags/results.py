"""Results in words: a true minus, dashes for what is undefined, p-values as papers print them; settings, heatmaps."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import date_format
from django.utils.html import conditional_escape, escape, format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime

from analysis.data.ratings.scales import FULL
from analysis.data.ratings.scales import words as scale_words
from analysis.methods import method_of
from analysis.models import AnalysisRun
from analysis.planning.sections import planned_words
from analysis.results.downloads import RunFile
from analysis.results.exports import file_name
from analysis.results.interval_plot import IntervalPlot, plot_figure
from analysis.results.meanings import Meaning, meaning_of, meanings_of
from analysis.results.result import Comparison, CriterionAsked, Result, SettingsUsed
from analysis.results.sections import Cell, Column, Figure, Range, Table
from analysis.results.values import SettingChange, SystemChange, compare_settings
from analysis.results.words import (
    DASH,
    N_COUNTS,
    PROCEDURES,
    method_title,
    number,
    p_value,
    protocol_title,
    with_minus,
    worker_test_name,
)
from analysis.web import navigation
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.histograms import Histogram
from evalsite.lib.typed_json import from_json
from evalsite.lib.words import counted

register = template.Library()
_OF_NUMBERS = mark_safe(' class="num"')
register.filter("worker_test_name", worker_test_name)
register.filter("protocol_title", protocol_title)
register.filter("number", number)
register.filter("p_value", p_value)


@register.filter
def signed(value: float | None, decimals: int = 3) -> str:
    """Return a number with its sign, a true minus or a plus; a dash for None."""
    return DASH if value is None else with_minus(f"{value:+.{decimals}f}")


@register.filter
def plain(value: float) -> str:
    """Return a number with as many digits as it was written with."""
    return f"{value:g}"


# --- Tables, figures and files


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
def hint(column: Column) -> str:
    """Return what the numbers of a column mean, and what is usual; nothing if the heading says it."""
    meaning = meaning_of(column)
    return " ".join(filter(None, meaning[:2])) if meaning else ""


@register.simple_tag
def heading(name: str, meant: str = "") -> SafeString:
    """Draw a heading of a table that is no section's, with what it means; `meant`: the heading that means the same."""
    return format_html('<abbr title="{}">{}</abbr>', hint(Column(meant or name)), name)


@register.filter
def meanings(tables: Sequence[Table]) -> list[tuple[str, Meaning]]:
    """Return the headings of tables that need a word, each once, with what they mean."""
    return list(dict(each for table in tables for each in meanings_of(table)).items())


@register.simple_tag
def rows_of(table: Table, words: Collection[int]) -> SafeString:
    """Draw the rows of a table; `words`: its `words`. A tag for each cell would take most of the time of a page."""
    around = [
        ('<th scope="row" class="cell-words"><bdi>', "</bdi></th>")
        if place == table.row_name
        else (format_html('<td{} data-label="{}">', "" if place in words else _OF_NUMBERS, column.name), "</td>")
        for place, column in enumerate(table.columns)
    ]
    drawn, last = [], len(table.rows) - 1
    for k, row in enumerate(table.rows):
        drawn.append('<tr class="cluster-end">' if k in table.rules and k < last else "<tr>")
        for value, column, (start, end) in zip(row, table.columns, around, strict=True):
            drawn += start, conditional_escape(cell(value, column)), end
        drawn.append("</tr>\n")
    return mark_safe("".join(drawn))


@register.filter
def pair(row: list[Cell], columns: list[Column]) -> list[tuple[Cell, Column]]:
    """Return each cell of a row with its column."""
    return list(zip(row, columns, strict=True))


@register.filter
def intervals(figure: Figure) -> IntervalPlot | None:
    """Return the plot of scores that the page draws itself; None where the figure is an image."""
    return plot_figure(figure)


@register.filter
def figure_file(name: str) -> str:
    """Return where a figure is among the files of a run, without the ending."""
    return f"figures/{file_name(name)}"


@register.filter
def anchor_name(name: str, kind: str) -> str:
    """Return the id of a figure or table on its page."""
    return f"{kind}-{file_name(name)}"


@register.simple_tag(takes_context=True)
def file_url(context: Mapping[str, Any], run: AnalysisRun, name: str, download: bool = False) -> str:
    """Return the address of a file of a run, or of the comparison that shows (`files_at`), to see it or to save it."""
    if files_at := context.get("files_at"):
        return f"{files_at}&{urlencode({'file': name} | ({'download': ''} if download else {}))}"
    return navigation.file_url(run, name) + ("?download" if download else "")


@register.inclusion_tag("analysis/anchor.html")
def anchor(name: str, title: str) -> dict[str, Any]:
    """Draw the link to a heading, figure or table, whose id is `name`, which copies its address."""
    return {"name": name, "title": title}


@register.filter
def comparison_file(comparison: Comparison, folder: str) -> str:
    """Return where a comparison is among the tables or figures of a run, without the ending."""
    return f"{folder}/{file_name(f'significance-{comparison.name}')}"


_FORMATS = {
    ".csv": "CSV",
    ".tex": "LaTeX",
    ".xlsx": "XLSX",
    ".svg": "SVG",
    ".pdf": "PDF",
    ".png": "PNG",
    ".json": "JSON",
    ".zip": "zip",
}


@register.filter
def format_name(file: RunFile) -> str:
    """Return what the format of a file is called."""
    return _FORMATS[file.suffix]


@register.filter
def difference(change: SystemChange) -> str:
    """Return a difference of z with its sign; "same" where three decimals show none."""
    return DASH if change.z is None else "same" if change.z_sense == "same" else signed(change.z)


@register.filter
def places(n: int) -> str:
    """Return by how many places a system moved."""
    return counted(abs(n), "place")


@register.filter
def what_n_counts(n_counts: str) -> str:
    """Return what n of a system counts."""
    return N_COUNTS[n_counts]


@register.filter
def score_histogram(counts: Sequence[int]) -> Histogram:
    """Return counts of scores in equal steps of the scale as `{% histogram %}` draws them."""
    return Histogram(tuple(counts), 100.0)


@register.filter
def in_tenths(counts: list[int]) -> str:
    """Return a histogram of scores in words."""
    return f"Number of scores in each tenth of the scale: {', '.join(map(str, counts))}"


@register.simple_tag
def result_url(run: AnalysisRun, page: str = "run") -> str:
    """Return the address of a page of a run."""
    return navigation.result_url(run, page)


@register.filter
def result_name(run: AnalysisRun) -> str:
    """Return what a result is called in a list: whose ratings, of how many assignments, and when it was analysed."""
    file = run.ratings_file
    of = f" ({counted(file.n_assignments or 0, 'assignment')})" if file.campaign_id else ""
    return f"{file.title}{of}, {date_format(localtime(run.created_at), 'j M Y, H:i')}: {analysed_by(run)}"


# --- Settings


@register.filter
def analysed_by(run: AnalysisRun) -> str:
    """Return in a few words how a run was analysed, its protocol apart."""
    settings, method = _settings_of(run), method_of(run.settings)
    test, excluded = settings.worker_test, len(settings.excluded)
    name = worker_test_name(test.preset)
    words = [] if "unit" in method.takes else [method.title]
    if method.has_worker_test:
        words.append(name if test.preset == NO_TEST else f"{name}, α = {test.alpha:g}")
    words += [f"unit: {settings.unit}"] if "unit" in method.takes else []
    scale = settings.scale or FULL
    words += [f"scores from {scale_words(scale)}"] if scale != FULL else []
    words += [f"systems compared by {PROCEDURES[settings.comparison][0]}"] if "comparison" in run.settings else []
    words += ["valid whenever you look"] if settings.workers_planned else []
    words += [f"by groups of {', '.join(settings.groups)}"] if settings.groups else []
    return ", ".join(words + ([f"{excluded} excluded"] if excluded else []))


@register.filter
def changes_since(run: AnalysisRun, before: AnalysisRun | None) -> list[SettingChange]:
    """Return the settings of a run that differ from an earlier one's; none without one."""
    if before is None:
        return []
    return compare_settings(_settings_of(before), _settings_of(run))


def _settings_of(run: AnalysisRun) -> SettingsUsed:
    """Return the settings of a run, and the columns of its file."""
    return from_json({**run.settings, "columns": run.mapping}, SettingsUsed)


def _criteria(criteria: Sequence[CriterionAsked]) -> str:
    return ", ".join(
        c.name + (" (negative)" if c.is_negative else "") + ("" if c.is_in_worker_test else " (not in test)")
        for c in criteria
    )


def _columns(mapping: Mapping[str, Any]) -> str:
    columns = {role: " and ".join(column) if role == "scores" else column for role, column in mapping.items()}
    return ", ".join(f"{role} = {column}" for role, column in sorted(columns.items()))


def _options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(options.items())) or "none"


def _looks(workers_planned: int | None) -> str:
    return f"valid whenever you look ({workers_planned} workers planned)" if workers_planned else "for one look"


_SETTINGS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "protocol": ("Protocol", protocol_title),
    "method": ("Response method", method_title),
    "options": ("Options of the method", _options),
    "criteria": ("Criteria", _criteria),
    "worker_test": ("Worker test", worker_test_name),
    "alpha": ("α", "{:g}".format),
    "unit": ("Unit", str),
    "standardised_kinds": ("Kinds behind z", ", ".join),
    "excluded": ("Excluded by hand", lambda workers: ", ".join(workers) or "nobody"),
    "scale": ("Scale", scale_words),
    "comparison": ("Comparison of systems", lambda name: PROCEDURES[name][0]),
    "groups": ("Compared by groups of", lambda columns: ", ".join(columns) or "none"),
    "corpus": ("Corpus", lambda name: name or "none"),
    "workers_planned": ("Differences of systems", _looks),
    "columns": ("Columns", _columns),
}


@register.filter
def setting_name(change: SettingChange) -> str:
    """Return what a setting is called."""
    return _SETTINGS[change.name][0]


@register.filter
def setting(value: Any, change: SettingChange) -> str:
    """Return one of the values of a setting in words."""
    return _SETTINGS[change.name][1](value)


# --- Heatmaps

_P_STEPS = (0.1, 0.05, 0.01, 0.001, 0.0001)
_SUPERIORITY_STEPS = (0.5, 0.55, 0.6, 0.65, 0.7)
_CONCLUDED = {
    True: "p of the difference, two-sided and corrected by Holm, in the row of the better system",
    False: "One-sided p of the rank-sum test that the row's system beats the column's, not corrected",
}
_CAPTIONS = {
    "p": "One-sided p of the rank-sum test that the row's system beats the column's",
    "holm": "One-sided p that the row's system beats the column's, corrected by Holm for all ordered pairs",
    "bh": "One-sided p that the row's system beats the column's, corrected by Benjamini–Hochberg for all ordered pairs",
    "superiority": "Probability that a score of the row's system exceeds one of the column's, ties counted half",
}


@register.inclusion_tag("components/heatmap.html")
def heatmap(comparison: Comparison, value: str) -> dict[str, Any]:
    """Draw the p-values, corrected or not, or the effect sizes of a comparison."""
    is_p = value != "superiority"
    show, heat = (p_value, heat_of_p) if is_p else (_share, heat_of_superiority)

    def drawn(cell: float | None) -> dict[str, Any]:
        return {"text": DASH, "heat": 0} if cell is None else {"text": show(cell), "heat": heat(cell)}

    steps = enumerate(_SUPERIORITY_STEPS, start=1)
    legend = [{"heat": 0, "text": "≤ 0.5"}, *({"heat": k, "text": f"> {bound:g}"} for k, bound in steps)]
    cells = [[drawn(cell) for cell in row] for row in getattr(comparison, value)]
    caption = f"{_CAPTIONS[value]}: {comparison.name}"
    return _matrix(comparison.order, cells) | {"caption": caption, "legend": None if is_p else legend}


@register.inclusion_tag("components/heatmap.html")
def conclusions(result: Result, systems: Sequence[str]) -> dict[str, Any]:
    """Draw by how small a p a result concludes that the row's system is better; nothing where it is the worse one."""
    tested = result.p_better(systems)

    def drawn(p: float | None, of_other: float | None) -> dict[str, Any]:
        is_worse = p == 1 and of_other != 1
        return {"text": DASH if p is None else "" if is_worse else p_value(p), "heat": 0 if p is None else heat_of_p(p)}

    cells = [list(map(drawn, row, column)) for row, column in zip(tested, zip(*tested, strict=True), strict=True)]
    return _matrix(systems, cells) | {"caption": _CONCLUDED[result.is_corrected]}


def _matrix(systems: Sequence[str], cells: Sequence[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return systems and rows of components/heatmap.html, with an empty diagonal."""
    rows = [
        {"name": name, "cells": [*row[:place], {"heat": None}, *row[place + 1 :]]}
        for place, (name, row) in enumerate(zip(systems, cells, strict=True))
    ]
    return {"systems": systems, "rows": rows}


@register.filter
def matrix_cells(cells: Sequence[dict[str, Any]]) -> SafeString:
    """Return a row of components/heatmap.html: of thousands of cells a template alone takes a quarter of a second."""
    return mark_safe("".join(map(_drawn_cell, cells)))  # with texts escaped


def _drawn_cell(cell: dict[str, Any]) -> str:
    if cell["heat"] is None:
        return '<td class="heatmap-self"></td>'
    shade = f' class="heat-{cell["heat"]}"' if cell["heat"] else ""
    return f"<td{shade}>{escape(cell['text'])}</td>"


def _share(share: float) -> str:
    return f"{share:.3f}".lstrip("0") if share < 1 else "1"


def heat_of_p(p: float) -> int:
    """Return the colour step of a p-value: 0 from 0.1 on, 5 below 0.0001."""
    return sum(p < step for step in _P_STEPS)


def heat_of_superiority(share: float) -> int:
    """Return the colour step of an effect size: 0 up to one half."""
    return sum(share > step for step in _SUPERIORITY_STEPS)


@register.filter
def planned(settings: Mapping[str, Any]) -> str:
    """Return what a plan with these settings is to find."""
    return planned_words(settings)
