"""Raters: how workers come, personal links, how far each rater is, revoking and restoring links."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.urls import reverse

from annotation.models import Invitation
from annotation.monitoring.lists import get_access
from annotation.raters.forms import EmailForm, RaterFilter, ReminderForm, as_errors
from annotation.raters.lists import RaterEntry, find_problems, tidy
from annotation.raters.queries import RaterCounts, count_raters, describe_raters, get_invitation_of, list_raters
from annotation.services.invitations import change_email, invite_raters, restore_invitation, revoke_invitation
from annotation.services.reminders import remind_raters
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.resources.jobs import JobShape
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from campaigns.queries import Role
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT


class RaterNamesForm(forms.Form):
    """Raters to invite."""

    names = forms.JSONField(
        help_text="A list of names or e-mail addresses, or of objects with `name`, `email` or both, and `attributes`, "
        'such as `{"pool": "experts"}`. A rater who is invited already keeps their link; attributes that are sent '
        "replace those of the same names, an empty text deletes one. A name or an address that is twice in the list is "
        "refused."
    )

    def clean_names(self) -> list[RaterEntry]:
        """Return the raters, as the page's form would have them; a line is a place in the list, from 1."""
        names = self.cleaned_data["names"]
        if not isinstance(names, list):
            raise forms.ValidationError("Send a list of names.")
        entries = [_entry(number, each) for number, each in enumerate(names, start=1)]
        if problems := find_problems(entries):
            raise forms.ValidationError(as_errors(problems))
        return entries


def _entry(number: int, sent: Any) -> RaterEntry:
    fields = sent if isinstance(sent, dict) else {"name": sent}
    name, email, attributes = fields.get("name", ""), fields.get("email", ""), fields.get("attributes", {})
    if not isinstance(name, str) or not isinstance(email, str) or not fields.keys() <= {"name", "email", "attributes"}:
        raise forms.ValidationError(f"Line {number}: send a name, or an object with `name`, `email` or both.")
    if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
        raise forms.ValidationError(f"Line {number}: send `attributes` as an object of texts.")
    name, email = _tidy(name), email.strip()
    if "@" in name and not email:
        email = name
    return RaterEntry(name or email, email, number, {_tidy(key): _tidy(value) for key, value in attributes.items()})


def _tidy(text: str) -> str:
    return tidy(text).replace("\t", " ")


class RemindForm(ReminderForm, RaterFilter):
    """A mail to raters who have not finished: to all, or to those that match."""

    token = None  # type: ignore[assignment]  # requests have an Idempotency-Key


@dataclass(frozen=True)
class RaterLink:
    """An invited rater: their own link, and how far they are. `n_left`: HITs that they can still do.

    `state`: not_begun, started, finished (there is nothing left for them to do) or revoked. `is_reminder_sent`: the
    mail server took the reminder that was begun at `reminded_at`.
    """

    id: int
    name: str
    email: str
    attributes: dict[str, str]
    link: str
    state: str
    n_finished: int
    n_left: int
    is_active: bool
    seen_at: datetime | None
    revoked_at: datetime | None
    reminded_at: datetime | None
    is_reminder_sent: bool


@dataclass(frozen=True)
class AccessLink:
    """How workers come: by the open link, by links of their own, or by a platform. None: no limit of workers."""

    open_link: str | None
    has_personal_links: bool
    max_workers: int | None
    n_workers: int


class AccessOf(Resource):
    """How workers come to a campaign."""

    @operation(Scope.READ, returns=AccessLink)
    def get(self, request: ApiRequest, campaign: Campaign) -> AccessLink:
        """Return the open link, where there is one, and how many workers may come."""
        return _access(request, campaign)


class Raters(Resource):
    """Raters who are invited by name. Their links are for editors."""

    @operation(Scope.EDIT, role=Role.EDITOR, returns=RaterLink, filters=RaterFilter, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the invited raters that match with their links, the first invited first."""
        form = RaterFilter(request.query_params)
        cleaned(form)
        found = list_raters(campaign, **form.filters())
        return Listed(found, ("pk",), lambda rows: _links(request, campaign, rows))

    @operation(
        Scope.EDIT,
        takes=RaterNamesForm,
        returns=AccessLink,
        status=201,
        fields={"bad_name": "names", "conflict": "names", "many_attributes": "names"},
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> AccessLink:
        """Invite raters: each gets a link of their own. Of those who are invited already, change attributes."""
        entries = cleaned(RaterNamesForm(sent_to(RaterNamesForm, request)))["names"]
        invite_raters(campaign=campaign, raters=entries)
        return _access(request, campaign)


class Counts(Resource):
    """How far the invited raters are."""

    @operation(Scope.READ, returns=RaterCounts)
    def get(self, request: ApiRequest, campaign: Campaign) -> RaterCounts:
        """Return how many invited raters have not begun, are in progress, have finished or are revoked."""
        return count_raters(campaign)


class Remind(Resource):
    """A reminder by mail."""

    @operation(Scope.EDIT, takes=RemindForm, returns=JobShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Job | None:
        """Mail their link to the raters that match, have an e-mail address and have not finished.

        The text has to have the placeholder {link}; {name} and {study} may be in it. A rater gets at most one reminder
        in 24 hours. Refused while the campaign is not running, where the site sends no mail, and if nobody would
        get it.
        """
        form = RemindForm(sent_to(RemindForm, request))
        filters = {"state": "", "search": ""} | cleaned(form)
        reminder = remind_raters(
            campaign=campaign, user=request.user, arrival_url=_arrival_url(request, campaign), token=uuid4(), **filters
        )
        return reminder.job


class OneRater(Resource):
    """An invited rater."""

    @operation(Scope.EDIT, role=Role.EDITOR, returns=RaterLink)
    def get(self, request: ApiRequest, campaign: Campaign, invitation_id: int) -> RaterLink:
        """Return a rater with their link."""
        return _link(request, campaign, invitation_id)

    @operation(Scope.EDIT, takes=EmailForm, returns=RaterLink, fields={"bad_email": "email", "conflict": "email"})
    def patch(self, request: ApiRequest, campaign: Campaign, invitation_id: int) -> RaterLink:
        """Change the e-mail address of a rater."""
        invitation = get_invitation_of(campaign, invitation_id)
        email = cleaned(EmailForm(sent_to(EmailForm, request)))["email"]
        change_email(invitation=invitation, email=email)
        return _link(request, campaign, invitation_id)


class Revoke(Resource):
    """The end of a personal link."""

    @operation(Scope.EDIT, returns=RaterLink)
    def post(self, request: ApiRequest, campaign: Campaign, invitation_id: int) -> RaterLink:
        """Let a link give out no more HITs, and free the place that its rater holds; what was rated is kept."""
        revoke_invitation(invitation=get_invitation_of(campaign, invitation_id))
        return _link(request, campaign, invitation_id)


class Restore(Resource):
    """A revoked link, again."""

    @operation(Scope.EDIT, returns=RaterLink)
    def post(self, request: ApiRequest, campaign: Campaign, invitation_id: int) -> RaterLink:
        """Let a revoked link give out HITs again."""
        restore_invitation(invitation=get_invitation_of(campaign, invitation_id))
        return _link(request, campaign, invitation_id)


def _link(request: ApiRequest, campaign: Campaign, invitation_id: int) -> RaterLink:
    return _links(request, campaign, [get_invitation_of(campaign, invitation_id)])[0]


def _links(request: ApiRequest, campaign: Campaign, rows: Iterable[Invitation]) -> list[RaterLink]:
    url = _arrival_url(request, campaign)
    return [
        RaterLink(
            id=each.id,
            name=each.name,
            email=each.email,
            attributes=each.attributes,
            link=f"{url}?{each.query}",
            state=each.state,
            n_finished=each.n_finished,
            n_left=each.n_left,
            is_active=each.is_active,
            seen_at=each.seen_at,
            revoked_at=each.revoked_at,
            reminded_at=each.reminded_at,
            is_reminder_sent=each.is_reminder_sent,
        )
        for each in describe_raters(campaign, rows)
    ]


def _access(request: ApiRequest, campaign: Campaign) -> AccessLink:
    """Return how workers come, with the open link where there is one."""
    found = get_access(campaign)
    link = _arrival_url(request, campaign) if found.is_open else None
    return AccessLink(link, found.has_personal_links, found.max_workers, found.n_workers)


def _arrival_url(request: ApiRequest, campaign: Campaign) -> str:
    """Return the absolute address at which workers arrive."""
    return str(request.build_absolute_uri(reverse("rate:welcome", args=[campaign.public_id])))
