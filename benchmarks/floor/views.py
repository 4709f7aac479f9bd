"""The least that saving a rating and showing the next page can cost."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from benchmarks.floor.models import Answer, Text

_LINES = ["A line of a page, as long as a line of a page is, no more and no less"] * 37


@login_not_required
@csrf_exempt
def floor(request: HttpRequest, pk: int) -> HttpResponse:
    """Read one row, insert one, render 5 KB."""
    row = Text.objects.get(pk=pk)
    Answer.objects.create(text=row, score=int(request.POST["score"]))
    return render(request, "floor.html", {"row": row, "lines": _LINES})
