"""How the worker pages are answered: without sign-in, session or cookie, in the frames of their platform only."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import brotli
from csp.constants import HEADER, NONE, SELF
from csp.utils import build_policy
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.utils.text import compress_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation.access.visitors import find_campaign
from annotation.queries import get_assignment
from campaigns.contracts.platform import CrowdPlatform
from campaigns.models import Campaign
from campaigns.platforms import platforms
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_pages import render_parts
from evalsite.web import inline_script

View = Callable[..., HttpResponse]
Policy = tuple[tuple[str, tuple[str, ...]], ...]
"""The directives of a Content Security Policy, and the sources of each."""
# Runs before anything is drawn, so it is in the page itself.
HEAD_SCRIPT = inline_script("js/rate_head.js")
_RETRY_AFTER_S = 600
_FEWEST_BYTES = 500

# Why a worker cannot go on, by code: the status of the answer, the title, the text. `task` is the platform's word.
_STOPS: dict[str, tuple[int, str, str]] = {
    "bad_link": (404, "This link does not work", "Copy the whole link, or ask the person who sent it for another."),
    "bad_token": (404, "This address does not work", "Open the link that you were sent again: your work is kept."),
    "old_token": (409, "This page was replaced", "Continue in the page that you opened last."),
    "other_worker": (403, "This is somebody else's", "Open the {task} from the platform, signed in as yourself."),
    "other_hit": (409, "One {task} at a time", "Finish or return the {task} of this study that you have begun."),
    "bad_form": (
        400,
        "This was not understood",
        "What was sent is too long or not complete. Go back and send it again.",
    ),
    "draft": (404, "Not open yet", "This study has not begun. Try this link again later."),
    "ready": (404, "Not open yet", "This study has not begun. Try this link again later."),
    "paused": (503, "Paused", "This study is paused at the moment. Try this link again later."),
    "closed": (410, "Closed", "This study has ended. Thank you for your interest."),
    "revoked": (
        403,
        "This link was withdrawn",
        "It gives out no {task}s any more. What you have rated is kept. The person who sent it can restore it.",
    ),
    "no_work": (
        409,
        "Nothing left to rate",
        "All that is left is taken or done. Somebody may return a {task}: you can try this link again later.",
    ),
    "enough_workers": (409, "Enough people take part", "This study has all the raters it needs. Thank you."),
    "enough_hits": (409, "You have reached the limit", "You have done as many {task}s as one person may. Thank you."),
    "returned": (410, "You have returned this {task}", "It is offered to somebody else. What you rated is kept."),
    "expired": (
        409,
        "This {task} was offered to others",
        "Nothing was sent for some time. What you sent is kept. Continue with it if it is still free, or with another.",
    ),
    "too_many": (429, "Many people at once", "Many people have come from your network. Try again in a minute."),
}
_OTHER_STOP = (409, "That is not possible", "Open the link that you were sent again: your work is kept.")


class _NoFiles(FileUploadHandler):
    """Worker pages have no files: what a stranger sends is read to its end and kept nowhere."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Pass every file over."""
        raise SkipFile


def for_workers(*methods: str) -> Callable[[View], View]:
    """Make a view one for workers: `methods` only; what cannot be done becomes a page that says so.

    There is no sign-in and there are no cookies, which browsers refuse in a platform's frame; so a CSRF token would
    protect nothing either: the token in the address is what a stranger does not have.
    """

    def decorate(view: View) -> View:
        answer = require_http_methods(methods)(view)

        @wraps(view)
        def answer_calmly(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            request.upload_handlers = [_NoFiles(request)]
            request.encoding = "utf-8"  # as our pages send; whatever else is claimed may be no text
            try:
                response = answer(request, *args, **kwargs)
                if response.status_code == 405:
                    protect(response, None)
            except DomainError as error:
                response = stop_page(error.code, campaign=_find_campaign(**kwargs), text=error.message)
            except (BadRequest, MultiPartParserError, SuspiciousOperation):  # too long, too many fields, cut off
                response = stop_page("bad_form")
            _name_site(response, request)
            _compress(response, request)
            if is_script(request):
                # A sandboxed frame has an origin of its own, which no list could name: every origin may read the
                # answer. It holds nothing that the token in the address does not give anyway.
                response["Access-Control-Allow-Origin"] = "*"
            return response

        framed = xframe_options_exempt(answer_calmly)
        return login_not_required(csrf_exempt(framed))

    return decorate


def _find_campaign(token: str = "", public_id: UUID | None = None, **_: Any) -> Campaign | None:
    """Return the campaign of an address at which something was refused, so that the page can say whom to ask."""
    with suppress(DomainError):
        return find_campaign(public_id) if public_id else get_assignment(token).campaign
    return None


def is_script(request: HttpRequest) -> bool:
    """Return whether a page's script asks, not its form."""
    return "application/json" in request.headers.get("Accept", "")


def page(
    template: str,
    context: dict[str, Any],
    *,
    campaign: Campaign | None = None,
    status: int = 200,
    may_fetch: bool = False,
    parts: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Answer with a page that no browser keeps. A page of no known campaign may be framed by every platform.

    `may_fetch`: its script may talk to this site. `parts`: see `render_parts`.
    """
    context = {"head_script": HEAD_SCRIPT.code, "study": describe_study(campaign)} | describe_task(campaign) | context
    html = render_to_string(template, context) if parts is None else render_parts(template, context, parts)
    response = HttpResponse(html, status=status)
    return protect(response, campaign, may_fetch=may_fetch)


class Study(NamedTuple):
    """Which study a page belongs to, and whom to ask, as rate/study.html shows it."""

    name: str = ""
    contact: str = ""


def describe_study(campaign: Campaign | None) -> Study:
    """Return which study a page belongs to and whom to ask."""
    return Study(campaign.study_name, campaign.contact) if campaign else Study()


def describe_task(campaign: Campaign | None) -> dict[str, str]:
    """Return what the pages call a HIT, by the word of the campaign's platform, and what that is if it needs saying."""
    platform = campaign.crowd_platform if campaign else CrowdPlatform
    return {"task": platform.task_name, "task_note": platform.task_note}


def describe_hit(campaign: Campaign, n_items: int) -> dict[str, Any]:
    """Return what a worker may know of a HIT before it, and what it asks of them."""
    return {
        "is_live": campaign.is_live,
        "is_compared": campaign.compares_chats,
        "n_items": n_items,
        "minutes": campaign.minutes_per_hit,
        "reward": campaign.reward,
        "currency": campaign.currency,
        "instructions": campaign.instructions,
        "consent": campaign.consent,
        "lease_minutes": campaign.lease_minutes,
    }


def stop_page(
    code: str, *, campaign: Campaign | None = None, text: str = "", retry_after_s: int = 0, **more: Any
) -> HttpResponse:
    """Answer with why a worker cannot go on. `more`: the completion codes they have, the form that leads on."""
    status, title, standard = _STOPS.get(code, _OTHER_STOP)
    task = describe_task(campaign)["task"]
    said = {"title": title.format(task=task), "text": text or standard.format(task=task)}
    response = page("rate/stop.html", said | more, campaign=campaign, status=status)
    if retry_after_s or status == 503:
        response["Retry-After"] = str(retry_after_s or _RETRY_AFTER_S)
    return response


def see_other(url: str, campaign: Campaign) -> HttpResponse:
    """Answer a form with the address of what it led to."""
    return protect(HttpResponse(status=303, headers={"Location": url}), campaign)


def data(content: dict[str, Any], campaign: Campaign, *, status: int = 200) -> HttpResponse:
    """Answer a page's script."""
    return protect(JsonResponse(content, status=status), campaign)


def protect(response: HttpResponse, campaign: Campaign | None, *, may_fetch: bool = False) -> HttpResponse:
    """Set the headers of a worker page."""
    known = [campaign.crowd_platform] if campaign else [platform() for platform in platforms.all().values()]
    response.worker_policy = _policy(known, may_fetch)  # type: ignore[attr-defined]
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"  # the address is the worker's key to their work
    response["X-Robots-Tag"] = "noindex"
    return response


def _name_site(response: HttpResponse, request: HttpRequest) -> None:
    """Name this site's origin wherever its policy says 'self', which WebKit matches with nothing in a sandboxed frame.

    Workers come by SITE_URL, if it is set, or by another address of this site, as the request says (behind a proxy that
    keeps it): so both are named.
    """
    origins = [f"{request.scheme}://{request.get_host()}"]
    if settings.SITE_URL:
        site = urlsplit(settings.SITE_URL)
        origins.append(f"{site.scheme}://{site.netloc}")
    if policy := getattr(response, "worker_policy", None):
        response.headers.setdefault(HEADER, _policy_header(policy, tuple(origins)))


@lru_cache(maxsize=256)
def _policy_header(policy: Policy, origins: tuple[str, ...]) -> str:
    """Return a policy as text, kept: making it takes longer than reading the assignment does."""
    named = {
        # Of the pages around it, which have their origins, the frames are.
        directive: [*sources, *origins] if SELF in sources and directive != "frame-ancestors" else [*sources]
        for directive, sources in policy
    }
    return build_policy(replace={directive: list(dict.fromkeys(sources)) for directive, sources in named.items()})


def _compress(response: HttpResponse, request: HttpRequest) -> None:
    """Compress a page for browsers that can read that.

    Elsewhere an attacker who makes a browser ask could learn a secret of a page from its length (BREACH). Here who can
    ask has the address, which is all that is secret.
    """
    is_page = response.get("Content-Type", "").startswith("text/html") and len(response.content) > _FEWEST_BYTES
    readable = request.headers.get("Accept-Encoding", "")
    encoding = next((name for name in ("br", "gzip") if name in readable), None)
    if is_page and encoding:
        page = response.content
        response.content = brotli.compress(page, quality=5) if encoding == "br" else compress_string(page)
        response["Content-Encoding"] = encoding
        response["Content-Length"] = str(len(response.content))
        response["Vary"] = "Accept-Encoding"


def _policy(platforms: list[CrowdPlatform], may_fetch: bool) -> Policy:
    """Return where a page may be framed and send its forms, and that it loads from here alone."""
    policy = {
        "default-src": [NONE],
        "script-src": [SELF, HEAD_SCRIPT.source],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF if may_fetch else NONE],
        "font-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF, *(source for platform in platforms for source in platform.form_action)],
        "frame-ancestors": [SELF, *(source for platform in platforms for source in platform.frame_ancestors)],
    }
    return tuple((directive, tuple(sources)) for directive, sources in policy.items())
