"""The question in which encoding an uploaded file is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from campaigns.views.access import render_form
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError, lines_if_windows


def ask_encoding(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    path: str | Path,
    name: str,
    answer: Callable[[str], object],
) -> HttpResponse:
    """Ask whether a file that is not UTF-8 is Windows-1252, with some of its lines; `answer` keeps what was sent."""
    if request.method == "POST":
        try:
            answer(request.POST.get("encoding", ""))
            return redirect(request.path)
        except DomainError as error:
            context["refused"] = error.message
    try:
        context["lines"] = lines_if_windows(path, name)
    except TableError as error:
        context["problems"] = error.faults
    return render_form(request, template, context)
