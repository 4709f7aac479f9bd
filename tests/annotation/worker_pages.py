"""What a browser without script reads from a worker page, and sends."""

from html.parser import HTMLParser

from django.http import HttpResponse
from django.urls import reverse

from annotation.access.tokens import token_of
from annotation.models import Assignment
from annotation.raters.lists import by_name
from annotation.raters.queries import describe_raters, list_raters
from annotation.services.assignments import start_assignment
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.sliders: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "input" and found.get("type") == "hidden":
            self.hidden[found["name"]] = found["value"]
        if tag == "input" and found.get("type") == "range":
            assert "name" not in found, "an untouched slider has no name, so that it sends nothing"
            self.sliders.append(found["data-name"])


def form_of(response: HttpResponse) -> _Forms:
    forms = _Forms()
    forms.feed(response.text)
    return forms


def welcome_url(campaign: Campaign, query: str = "") -> str:
    return reverse("rate:welcome", args=[campaign.public_id]) + (f"?{query}" if query else "")


def personal_query(campaign: Campaign, name: str) -> str:
    """Return the query of the personal link of a rater, who is invited if they are not yet."""
    invite_raters(campaign=campaign, raters=by_name([name]))
    found = describe_raters(campaign, list_raters(campaign, search=name))
    return next(rater.query for rater in found if rater.name == name)


def url(name: str, assignment: Assignment) -> str:
    return reverse(f"rate:{name}", args=[token_of(assignment)])


def started(campaign: Campaign, key: str = "ann") -> Assignment:
    return start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{key}", consented=True)


def answers(response: HttpResponse, score: int = 70, **changes: str) -> dict[str, str]:
    """Return what a browser sends of an item's page."""
    form = form_of(response)
    return form.hidden | dict.fromkeys(form.sliders, str(score)) | changes


def position_in(response: HttpResponse) -> int:
    return int(form_of(response).hidden["position"])
