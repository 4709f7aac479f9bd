"""What every response method does: it reads a file, and makes a result with tables of it."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.methods import ResponseMethod, ResponsesFile
from analysis.methods.settings import AnalysisSettings
from analysis.results.result import Result
from analysis.results.stored import as_result, document_of
from campaigns.design.worker_test import NO_TEST
from campaigns.methods import methods
from evalsite.conformance.faults import check_names, refused, require


def check_method(
    method: type[ResponseMethod[Any]], *, rows: Sequence[Mapping[str, Any]], options: Mapping[str, Any] | None = None
) -> None:
    """Raise ConformanceError if a response method does not do what `ResponseMethod` promises.

    `rows`: answers of two systems or more, as a file for the method has them; `options`: its own, if it has some.
    """
    check_names(method, "title", "table", "unit")
    methods.all().setdefault(method.slug, method)  # its package need not be installed yet
    found = method()
    settings = AnalysisSettings("custom", (), NO_TEST, method=method.slug, options=dict(options or {}))
    found.check_options(settings.options)
    error = refused(method, "check_options of no option", lambda: found.check_options({"there is none": 1}))
    require(error is not None and error.code == "bad_settings", method, "unknown options are not refused.")
    forwards, backwards = (_analyse(found, settings, each) for each in (list(rows), list(rows)[::-1]))
    require(bool(forwards.systems), method, "the result has no systems.")
    names = list(forwards.systems)
    require(list(backwards.systems) == names, method, "the order of the rows changes the ranking.")
    brief = _analyse(found, settings, list(rows), brief=True)
    require(list(brief.systems) == names, method, "a brief analysis ranks otherwise.")
    sections = found.sections(forwards)
    require(bool(sections), method, "no section shows the result: return the ranking first.")
    stored = json.loads(json.dumps(document_of(forwards)))
    is_same = document_of(as_result(stored)) == stored
    require(is_same, method, "a result that is stored and opened again differs. Keep to JSON's types.")


def _analyse(
    found: ResponseMethod[Any], settings: AnalysisSettings, rows: Sequence[Mapping[str, Any]], *, brief: bool = False
) -> Result:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with TemporaryDirectory(prefix="conformance-") as folder:
        path = Path(folder) / "responses.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, columns)
            table.writeheader()
            table.writerows(rows)
        return found.analyse(found.read(ResponsesFile(path), settings), settings, brief=brief)
