"""The pages of one worker: instructions, item after item with its images, feedback, completion code."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotation.access.network_clients import name_client
from annotation.access.visitors import find_campaign, find_offer, identify, newcomer_key, sign_newcomer
from annotation.forms import read_page
from annotation.models import Assignment
from annotation.pages.shown_files import find_file, send_file
from annotation.pages.text_images import draw, find_image, stems_in
from annotation.queries import (
    assignment_id_of,
    count_pages,
    get_assignment,
    get_assignment_of_images,
    items_near,
    pages_of,
)
from annotation.services.assignments import choose_text, finish_assignment, return_assignment, start_assignment
from annotation.services.ratings import RefusedAnswerError, save_draft, save_page
from annotation.templatetags.rating import period
from annotation.views.framed import describe_hit, for_workers, page, protect, see_other, stop_page
from annotation.views.pages import LONGEST_FEEDBACK, place_of, show_next, url_of
from campaigns.contracts.platform import Arrival
from campaigns.design.paging import PageKind
from campaigns.models import Campaign
from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError
from evalsite.lib.rate_limits import Limit, client_address, count_use

State = Assignment.State
# How many newcomers one address may bring: a lecture hall may, and a script that takes places cannot go on for long.
_NEWCOMERS = (Limit("annotation.newcomers", n=100, window_s=60), Limit("annotation.newcomers.hour", 600, 3_600))
# An image never changes; the browser keeps it for as long as a HIT takes.
_CACHE = "private, max-age=3600, immutable"
_ALREADY_RATED = "This is already rated; here is what comes next."
_SAVED = "Saved. You can still change your answers until you go on."


@for_workers("GET", "HEAD", "POST")
def welcome(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show the instructions to a worker who follows the link of a campaign; sent, give them a HIT."""
    campaign = find_campaign(public_id)
    arrival = identify(campaign, request.GET.dict())
    if request.method != "POST":
        return _instructions(campaign, arrival)
    if arrival.worker_key is None and not arrival.is_preview and (wait_s := _count_newcomer(request)):
        text = f"Many people have come from your network just now. Open the link again in {period(-(-wait_s // 60))}."
        return stop_page("too_many", campaign=campaign, text=text, retry_after_s=wait_s)
    # Somebody who presses the button twice is still one newcomer.
    key = arrival.worker_key or newcomer_key(campaign, request.POST.get("newcomer", ""))
    try:
        if arrival.is_preview:
            return _instructions(campaign, arrival)
        agreed = "consent" in request.POST
        assignment = start_assignment(
            campaign=campaign,
            worker_key=key,
            consented=agreed,
            place=arrival.place,
            client="" if arrival.worker_key else _client_of(request),
        )
    except DomainError as error:
        if error.code == "no_consent":
            return _instructions(campaign, arrival, error=error.message, status=UNPROCESSABLE)
        return _refused(error, campaign)
    return see_other(url_of("hit", assignment), campaign)


def _instructions(campaign: Campaign, arrival: Arrival, *, error: str = "", status: int = 200) -> HttpResponse:
    offer = find_offer(campaign, arrival.worker_key, arrival.place)
    if offer.refusal:
        # Where work is submitted at its own address, a code to type would be none that the platform knows.
        is_typed = not campaign.crowd_platform.has_account
        codes = [each.completion_code for each in offer.finished] if is_typed else []
        return stop_page(offer.refusal, campaign=campaign, codes=codes)
    n_done, n_items = 0, offer.n_items if campaign.page_kind == PageKind.OUTPUT else campaign.hit_size
    if offer.active:
        offer.active.campaign = campaign
        n_done, n_items = count_pages(offer.active)
    context = describe_hit(campaign, n_items) | {
        "number": n_done + 1,
        "active": offer.active,
        "newcomer": "" if arrival.worker_key else sign_newcomer(campaign),
        "is_newcomer": arrival.worker_key is None and not arrival.is_preview,
        "can_start": not arrival.is_preview,
        "form": {"method": "post", "action": ""},
        "error": error,
    }
    return page("rate/welcome.html", context, campaign=campaign, status=status)


def _count_newcomer(request: HttpRequest) -> int:
    """Count somebody new against the limits of their address; return how many seconds they are to wait."""
    address = client_address(request)
    return count_use(*((limit, address) for limit in _NEWCOMERS), now=timezone.now())


def _client_of(request: HttpRequest) -> str:
    """Return the name of the client of a request, by which unknown workers are counted."""
    return name_client(client_address(request), timezone.now())


def _refused(error: DomainError, campaign: Campaign) -> HttpResponse:
    """Say why no HIT was given out."""
    if error.code != "not_open":
        return stop_page(error.code, campaign=campaign, text=error.message)
    campaign.refresh_from_db(fields=["status"])
    return stop_page(campaign.status, campaign=campaign)


@for_workers("GET", "HEAD", "POST")
def hit(request: HttpRequest, token: str) -> HttpResponse:
    """Show the item that is to be rated next; sent, keep the answers to one and show the next, or redirect to it.

    Sent twice, from a stale tab or after a step back, it changes nothing and shows what is next all the same.
    """
    if request.method != "POST":
        return show_next(get_assignment(token))
    began, sent = timezone.now(), read_page(request.POST)
    place = {"assignment_id": assignment_id_of(token), "position": sent.position}
    try:
        if sent.is_draft:
            assignment = save_draft(**place, answers=sent.answers, abstained=sent.abstained)
            return show_next(assignment, notice=_SAVED if assignment.position == sent.position else _ALREADY_RATED)
        assignment = save_page(**place, answers=sent.answers, abstained=sent.abstained, telemetry=sent.telemetry)
    except DomainError as error:
        if error.code not in ("not_next", "bad_answer", "chat_open", "not_revisable"):
            raise
        status = UNPROCESSABLE if error.code == "bad_answer" else CONFLICT
        refused = error.key if isinstance(error, RefusedAnswerError) else None
        return show_next(get_assignment(token), notice=error.message, is_error=True, status=status, refused=refused)
    rated = pages_of(assignment).get(sent.position)
    is_new = rated is not None and assignment.n_rated == rated.end and assignment.seen_at >= began
    if is_new and sent.wants_redirect:
        return see_other(url_of("hit", assignment), assignment.campaign)
    return show_next(assignment, notice="" if is_new else _ALREADY_RATED)


@for_workers("GET", "HEAD", "POST")
def feedback(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for feedback once all items are rated; sent, finish the assignment and lead to its completion code."""
    assignment = get_assignment(token)
    if request.method != "POST":
        return show_next(assignment)
    text = request.POST.get("feedback", "")[:LONGEST_FEEDBACK]
    try:
        finish_assignment(assignment_id=assignment.pk, feedback=text)
    except DomainError as error:
        if error.code not in ("not_complete", "lease_lost", "returned"):
            raise
    return see_other(url_of("hit", assignment), assignment.campaign)


@for_workers("GET", "HEAD", "POST")
def return_hit(request: HttpRequest, token: str) -> HttpResponse:
    """Say what it means to return a HIT; sent, return it."""
    assignment = get_assignment(token)
    if request.method == "POST":
        try:
            return_assignment(assignment_id=assignment.pk)
        except DomainError as error:
            if error.code != "not_active":
                raise
        return see_other(url_of("hit", assignment), assignment.campaign)
    if assignment.state != State.ACTIVE:
        return show_next(assignment)
    n_done, n_items = count_pages(assignment)
    context: dict[str, Any] = describe_hit(assignment.campaign, n_items) | {
        "n_done": n_done,
        "back_url": url_of("hit", assignment),
    }
    return page("rate/return.html", context, campaign=assignment.campaign)


@for_workers("GET", "HEAD", "POST")
def show_text(request: HttpRequest, token: str) -> HttpResponse:
    """Change the rest of a HIT from images to text; opened by itself, the address leads to the item."""
    assignment = get_assignment(token)
    if request.method == "POST":
        try:
            choose_text(assignment_id=assignment.pk)
        except DomainError as error:
            if error.code == "no_text":
                return show_next(assignment, notice=error.message, is_error=True, status=CONFLICT)
            if error.code != "not_active":
                raise
    return see_other(url_of("hit", assignment), assignment.campaign)


@for_workers("POST")
def next_hit(request: HttpRequest, token: str) -> HttpResponse:
    """Give the worker of an assignment their next HIT, or one again that they were away from."""
    before = get_assignment(token)
    place = place_of(before)  # who came with one of the platform may go on with that one only
    try:
        after = start_assignment(
            campaign=before.campaign,
            worker_key=before.worker.key,
            has_agreed=True,
            place=place,
            client="" if place else _client_of(request),
        )
    except DomainError as error:
        return _refused(error, before.campaign)
    return see_other(url_of("hit", after), before.campaign)


@for_workers("GET", "HEAD")
def image(request: HttpRequest, token: str, name: str) -> HttpResponse:
    """Send an image, or a file, of the item that is to be rated, or of the one before or after it.

    One query, and one more for a file.
    """
    assignment = get_assignment_of_images(token)
    # Those of the last page may still be under way when it has been rated.
    items, stem_of = items_near(assignment), stems_in(assignment)
    found = find_image(items, assignment.campaign, stem_of, name)
    if found and not assignment.is_accessible:
        part, variant = found
        content, content_type = draw(part, variant, secret=f"{assignment.pk} {part.key}")
    elif file := find_file(items, assignment.campaign, stem_of, name):
        block, width = file
        try:
            secret = f"{assignment.pk} {block.key}"
            content, content_type = send_file(assignment.campaign, block, width, secret=secret)
        except FileNotFoundError:
            return stop_page("bad_token", campaign=assignment.campaign)
    else:
        return stop_page("bad_token", campaign=assignment.campaign)
    response = protect(HttpResponse(content, content_type=content_type), assignment.campaign)
    # A whole policy, and a short one, as each byte costs time on a slow line.
    response["Content-Security-Policy"] = "default-src 'none'"
    del response["X-Robots-Tag"]
    response["Cache-Control"] = _CACHE
    return response


@for_workers("GET", "HEAD", "POST")
def nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    """Say of an address that is none that the link was not copied whole."""
    return stop_page("bad_link")
