"""The one way out: a report as a folder of tables and figures, and as a replication package."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

from analysis.dialogues.tables import dialogue_tables
from analysis.tables import (
    Table,
    pairs_table,
    raw_table,
    replication_table,
    significance_tables,
    systems_table,
    workers_table,
)

# Below 255 bytes in any script, with what is added to it.
_LONGEST_NAME = 50


def dump_json(document: Any) -> str:
    """Return JSON as every door of evalsite writes it: the same document gives the same bytes."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def report_tables(report: dict[str, Any]) -> list[Table]:
    """Return every table of a report."""
    tables = [systems_table(report), raw_table(report)]
    tables += [*significance_tables(report), pairs_table(report), workers_table(report)]
    tables += dialogue_tables(report)
    if replication := report.get("replication"):
        tables.append(replication_table(replication))
    return tables


def write_report(
    folder: Path,
    report: dict[str, Any],
    *,
    with_dark: bool = False,
    on_progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Write tables (CSV, LaTeX) and figures (SVG, PDF, PNG) of a report, and the report itself, into a folder.

    With `with_dark`, each figure also comes as an SVG for dark pages. The folder is made; files of the same names are
    replaced.
    """
    from analysis import figures  # matplotlib takes a second to import
    from analysis.dialogues.figures import dialogue_figures

    tables_folder, figures_folder = folder / "tables", folder / "figures"
    tables_folder.mkdir(parents=True, exist_ok=True)
    figures_folder.mkdir(parents=True, exist_ok=True)
    on_progress("Writing tables")
    (folder / "report.json").write_text(dump_json(report), encoding="utf-8")
    for table in report_tables(report):
        name = file_name(table.name)
        (tables_folder / f"{name}.csv").write_text(table.to_csv(), encoding="utf-8", newline="")
        (tables_folder / f"{name}.tex").write_text(table.to_latex(), encoding="utf-8")
    on_progress("Drawing figures")
    for title, draw in (figures.figures(report) | dialogue_figures(report)).items():
        name = file_name(title)
        figure = draw(figures.LIGHT)
        for suffix in ("svg", "pdf", "png"):
            figures.save(figure, figures_folder / f"{name}.{suffix}")
        if with_dark:
            figures.save(draw(figures.DARK), figures_folder / f"{name}-dark.svg")


def file_name(title: str) -> str:
    """Return a title as a safe file name; of titles that differ, the names differ."""
    safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in title)[:_LONGEST_NAME]
    return safe if safe == title else f"{safe}-{crc32(title.encode()):08x}"
