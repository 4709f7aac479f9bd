"""What can be downloaded of a run: the files of its folder that `exports` and `package` write."""

from dataclasses import dataclass
from pathlib import Path

from analysis.results.exports import REPORT, WORKBOOK, draw_figure, figure_files, make_workbook, table_paths
from analysis.results.result import Result
from analysis.results.sections import Output
from evalsite.lib.media import get_media

_WORKERS = "workers"
CONTENT_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".zip": "application/zip",
}
"""What the files of a run are, by the endings of their names."""
OTHER_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class RunFile:
    """A file of a run: its path below the run's folder, and its size in bytes; None of one that is made on demand."""

    path: str
    size: int | None

    @property
    def suffix(self) -> str:
        """The ending of its name, with the dot."""
        return Path(self.path).suffix


@dataclass(frozen=True)
class Download:
    """Something in one or several formats."""

    title: str
    files: list[RunFile]


@dataclass(frozen=True)
class RunDownloads:
    """Everything that can be downloaded of a run; what its folder lacks is left out."""

    whole: list[Download]
    tables: list[Download]
    figures: list[Download]
    workers: list[Download]


def find_file(folder: str, name: str) -> Path | None:
    """Return a file of a run by its path below the run's folder, made if need be; None if it has none."""
    media = get_media()
    maker = make_workbook if name.endswith(".xlsx") else draw_figure
    return media.find(folder, name) or media.make(folder, name, REPORT, maker)


def list_downloads(result: Result, folder: str) -> RunDownloads:
    """Return what can be downloaded of a run with this result and folder."""
    sizes = dict(get_media().sizes(folder))

    def found(title: str, *paths: str) -> list[Download]:
        files = [RunFile(path, sizes[path]) for path in paths if path in sizes]
        return [Download(title, files)] if files else []

    kept_report = found("All that was computed", REPORT)

    def made(title: str, *paths: str) -> list[Download]:
        """Return files of which some are made, from the report, when they are asked for."""
        files = [RunFile(path, sizes.get(path)) for path in paths if kept_report or path in sizes]
        return [Download(title, files)] if files else []

    tables = {table.name: made(table.title, *table_paths(table)) for table in result.tables_in(Output.FILES)}
    return RunDownloads(
        whole=[*found("Replication package", "package.zip"), *made("All tables", WORKBOOK), *kept_report],
        workers=tables.pop(_WORKERS, []),
        tables=[each for of_table in tables.values() for each in of_table],
        figures=[each for figure in result.figures for each in made(figure.title, *figure_files(figure))],
    )
