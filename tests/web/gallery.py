"""A small site with a page that shows every component; the URLconf of the browser tests.

It needs none of the other apps: their addresses that base.html names are stubs.
"""

from pathlib import Path

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template import engines
from django.urls import include, path, reverse
from django.views.decorators.csrf import csrf_exempt

from evalsite.lib.navigation import Link, LinkGroup, SideBar

SYSTEMS = ["Copper", "Bramble", "Alder", "Drift"]
JOB = {
    "status": "running",
    "stage": "Tests between systems",
    "done": 1240,
    "total": 2000,
    "percent": 62,
    "error": None,
    "worker_alive": True,
    "finished": False,
}


class GalleryForm(forms.Form):
    name = forms.CharField(help_text="As it is printed in tables.", required=False)
    count = forms.IntegerField(label="Items in a HIT", min_value=10)
    protocol = forms.ChoiceField(choices=[("qg", "Question generation"), ("dialogue", "Dialogue")])
    side = forms.ChoiceField(choices=[("one", "One-sided"), ("two", "Two-sided")], widget=forms.RadioSelect)
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False)
    strict = forms.BooleanField(label="Leave out workers who fail the test", required=False)


class UploadForm(forms.Form):
    file = forms.FileField(label="Ratings", help_text="CSV, TSV, JSON Lines or Excel.")


def _heat_rows() -> list[dict]:
    p_values = [
        [None, 0.04, 0.00003, 0.00001],
        [0.96, None, 0.0004, 0.008],
        [1.0, 0.99, None, 0.07],
        [1.0, 0.98, 0.93, None],
    ]
    limits = (0.1, 0.05, 0.01, 0.001, 0.0001)
    return [
        {
            "name": name,
            "cells": [
                {
                    "text": "" if p is None else f"{p:.3f}" if p >= 0.001 else "< 0.001",
                    "heat": None if p is None else sum(p < limit for limit in limits),
                }
                for p in row
            ],
        }
        for name, row in zip(SYSTEMS, p_values, strict=True)
    ]


def gallery(request: HttpRequest) -> HttpResponse:
    """Show every component, with `?errors` the form as it looks when filled in wrongly."""
    if request.method == "POST":
        form = UploadForm(request.POST, request.FILES)
        if form.is_valid() and form.cleaned_data["file"].name.endswith(".csv"):
            messages.success(request, f"{form.cleaned_data['file'].name} was imported.")
            return HttpResponseRedirect(reverse("gallery") + "?page=2")
        upload, status = form, 422
    else:
        upload, status = UploadForm(), 200
    heights = [4, 10, 26, 52, 84, 96, 70, 38, 15, 6]
    context = {
        "title": "Components",
        "crumbs": [{"title": "Analyses", "url": reverse("home")}],
        "form": GalleryForm({"count": "3"}) if "errors" in request.GET else GalleryForm(),
        "upload": upload,
        "systems": SYSTEMS,
        "rows": _heat_rows(),
        "bars": [
            {"x": 32 * i + 1, "y": 100 - h, "width": 30, "height": h, "marked": i < 2} for i, h in enumerate(heights)
        ],
        "ticks": ["−3", "0", "3"],
        "problems": [
            {"row": 4, "column": "score", "message": "“abc” is not a number; give one from 0 to 100."},
            {"row": 7, "column": "", "message": "The row has 5 cells, the heading has 9."},
            *({"row": n, "column": "system", "message": "The cell is empty."} for n in range(9, 60)),
        ]
        if "errors" in request.GET
        else [],
        "page_obj": Paginator(range(95), 10).get_page(request.GET.get("page")),
        "side_bar": SideBar(
            label="Results",
            title="Chatbots with and without a persona",
            url="#",
            groups=[
                LinkGroup("", [Link("Overview", "#")]),
                LinkGroup("Design", [Link("Questions", "#")], "complete", is_open=False),
                LinkGroup(
                    "Results",
                    [Link("Systems", "#", is_current=True), Link("Workers", "#"), Link("Files", "#")],
                    "7 systems, final",
                ),
            ],
        ),
        "stats": [
            {"label": "Ratings", "value": "18,240", "note": "of 21,120"},
            {"label": "Workers", "value": "210"},
            {"label": "Passed the test", "value": "62 %", "note": "130"},
            {"label": "Median HIT", "value": "9.4 min"},
        ],
        "job": {**JOB, "url": reverse("gallery_job") + "?worker=no"},
    }
    template = engines["django"].from_string((Path(__file__).parent / "gallery.html").read_text())
    return HttpResponse(template.render(context, request), status=status)


def job(request: HttpRequest) -> JsonResponse:
    """Answer as a job under way, with `?worker=no` as one that nobody works on."""
    return JsonResponse({**JOB, "worker_alive": request.GET.get("worker") != "no"})


def refuse(request: HttpRequest) -> HttpResponse:
    """Show 403.html."""
    raise PermissionDenied


@csrf_exempt
def confirmed(request: HttpRequest) -> HttpResponse:
    messages.warning(request, f"Deleted: {request.POST.get('what')}.")
    return HttpResponseRedirect(reverse("gallery"))


CAMPAIGNS = [path("", gallery, name="list"), path("commands/", job, name="commands")]
urlpatterns = [
    path("", gallery, name="home"),
    path("gallery/", gallery, name="gallery"),
    path("gallery/job/", job, name="gallery_job"),
    path("gallery/refuse/", refuse, name="gallery_refuse"),
    path("gallery/confirmed/", confirmed, name="gallery_confirmed"),
    path("accounts/", include("evalsite.accounts.urls")),
    path("campaigns/", include((CAMPAIGNS, "campaigns"))),
    path("analysis/", include(([path("", gallery, name="ratings")], "analysis"))),
    path("help/", include("evalsite.help.urls")),
    path("admin/", admin.site.urls),
]
