"""The guides, for everybody: they hold nothing of anybody's."""

import posixpath

from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalsite.help.guides import GROUPS, GUIDES, MOVED, get_example, read_guide
from evalsite.help.search import search_guides

LONGEST_QUESTION = 200


@login_not_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the guides; with `q`, what answers a question comes first."""
    question = request.GET.get("q", "").strip()[:LONGEST_QUESTION]
    context = {"title": "Help", "groups": GROUPS, "question": question, "found": search_guides(question)}
    return render(request, "help/index.html", context)


@login_not_required
@require_safe
def guide(request: HttpRequest, name: str) -> HttpResponse:
    """Show a guide; lead from its old name to its name."""
    if name in MOVED:
        return redirect("help:guide", MOVED[name], permanent=True)
    if name not in GUIDES:
        raise Http404("There is no such guide.")
    page = read_guide(name)
    crumbs = [{"title": "Help", "url": reverse("help:index")}]
    if (folder := posixpath.dirname(name)) in GUIDES:
        crumbs.append({"title": GUIDES[folder].title, "url": reverse("help:guide", args=[folder])})
    return render(request, "help/guide.html", {"title": page.title, "guide": page, "crumbs": crumbs})


@login_not_required
@require_safe
def example(request: HttpRequest, name: str) -> FileResponse:
    """Send an example that a guide links to."""
    path = get_example(name)
    if path is None:
        raise Http404("There is no such example.")
    return FileResponse(path.open("rb"), as_attachment=True)
