"""What can be downloaded of a run."""

from pathlib import Path
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from analysis.exports import file_name
from analysis.methods import figures_of, tables_of
from analysis.models import AnalysisRun
from analysis.sections import Output

_FORMATS = {".csv": "CSV", ".tex": "LaTeX", ".svg": "SVG", ".pdf": "PDF", ".png": "PNG", ".json": "JSON", ".zip": "zip"}
_WORKERS = "workers"


def downloads(run: AnalysisRun, folder: Path, *, names_workers: bool = True) -> list[dict[str, Any]]:
    """Return what can be downloaded, in groups of rows of links; what is missing in the folder is left out."""
    report = run.report or {}
    tables = {table.name: table.title for table in tables_of(report, Output.FILES) if table.name != _WORKERS}
    workers = reverse("analysis:workers_csv", args=[run.pk])
    groups: list[dict[str, Any]] = [
        {
            "title": "Everything",
            "text": "The package holds ratings, protocol, results and tables; one command, in its README, "
            "computes the results again, byte for byte.",
            "rows": [
                _row(run, folder, "Replication package", ["package.zip"]),
                _row(run, folder, "All that was computed", ["report.json"]),
            ],
        },
        {
            "title": "Tables",
            "text": "",
            "rows": [
                _row(run, folder, title, [f"tables/{file_name(name)}{suffix}" for suffix in (".csv", ".tex")])
                for name, title in tables.items()
            ],
        },
        {
            "title": "Figures",
            "text": "",
            "rows": [
                _row(run, folder, title, [f"figures/{file_name(name)}{suffix}" for suffix in (".svg", ".pdf", ".png")])
                for name, title in ((figure.name, figure.title) for figure in figures_of(report))
            ],
        },
        {
            "title": "Workers",
            "text": "Everywhere else workers have a number and a keyed hash for a name.",
            "rows": [
                _row(run, folder, "Workers by hash", ["tables/workers.csv", "tables/workers.tex"]),
                {
                    "title": "Workers by their own ids",
                    "note": "not for publication",
                    "links": [{"format": "CSV", "url": f"{workers}?ids=own", "size": ""}] if names_workers else [],
                },
            ],
        },
    ]
    for group in groups:
        group["rows"] = [row for row in group["rows"] if row["links"]]
    return groups


def _row(run: AnalysisRun, folder: Path, title: str, names: list[str]) -> dict[str, Any]:
    links = [
        {
            "format": _FORMATS[path.suffix],
            "url": reverse("analysis:run_file", args=[run.pk, name]) + "?download",
            "size": filesizeformat(path.stat().st_size),
        }
        for name in names
        if (path := folder / name).is_file()
    ]
    return {"title": title, "note": "", "links": links}
