"""Acts that can be taken back: what a view does within `undoable`, a function marked by `undoes` takes back.

    with undoable(request, "campaigns.webhook", page=url, campaign=campaign.public_id) as act:
        remove_webhook(webhook=found, act=act)  # puts the rows aside
        act.words = "The webhook is removed."

    @undoes("campaigns.webhook")
    def _restore(user: User, act: Act) -> None: ...

The page that follows shows the words with a button. What a question is asked about before it is done (`data-confirm`)
cannot be taken back: it costs money, reaches people or other programs, or there is too much of it to be put aside.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from django.core import serializers
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, models, transaction
from django.http import Http404, HttpRequest
from django.utils import timezone

from evalsite.accounts.models import User
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.files import delete_on_commit
from evalsite.lib.errors import DomainError
from evalsite.lib.late import import_all
from evalsite.undo.models import Act

KEPT_FOR = timedelta(minutes=15)
"""For how long an act can be taken back."""
EXPIRED = "expired"
"""The code of the refusal of what can never be taken back again; other refusals leave it offered."""
_SESSION = "undo"
_MOST_OFFERED = 3
_TakesBack = Callable[[User, Act], None]
_take_back: dict[str, _TakesBack] = {}


def undoes(kind: str) -> Callable[[_TakesBack], _TakesBack]:
    """Have the decorated function take acts of a kind back: it checks what the user may do, and what changed since.

    Raises Http404, PermissionDenied or DomainError.
    """

    def decorate(take_back: _TakesBack) -> _TakesBack:
        _take_back[kind] = take_back
        return take_back

    return decorate


@contextmanager
def undoable(request: SignedInRequest, kind: str, *, page: str, campaign: UUID | None = None) -> Iterator[Act]:
    """Give an act, to be filled in while it is done, in one transaction; then offer on `page` to take it back.

    One without words was none: somebody had done it before.
    """
    act = Act(user=request.user, kind=kind, page=page, campaign=campaign, expires_at=timezone.now() + KEPT_FOR)
    with transaction.atomic():
        yield act
        if not act.words:
            return
        act.words = act.words[:300]
        act.save()
    offer = {"id": str(act.pk), "words": act.words, "page": page, "until": act.expires_at.isoformat()}
    request.session[_SESSION] = [*request.session.get(_SESSION, []), offer][-_MOST_OFFERED:]


def list_offers(request: HttpRequest) -> list[dict[str, str]]:
    """Return what can be taken back on the page that is shown, newest first. No query."""
    now = timezone.now().isoformat()
    offers = request.session.get(_SESSION, [])
    return [each for each in reversed(offers) if each["until"] > now and urlsplit(each["page"]).path == request.path]


def page_of_offer(request: HttpRequest, act_id: UUID) -> str:
    """Return the page where an act is offered, "" if it is not."""
    offers = request.session.get(_SESSION, [])
    return next((each["page"] for each in offers if each["id"] == str(act_id)), "")


def withdraw_offer(request: HttpRequest, act_id: UUID) -> None:
    """Offer it no more."""
    if page_of_offer(request, act_id):
        request.session[_SESSION] = [each for each in request.session[_SESSION] if each["id"] != str(act_id)]


def put_aside(
    act: Act | None, rows: Iterable[models.Model], *, files: Iterable[str] = (), folders: Iterable[str] = ()
) -> None:
    """Keep rows that are about to be deleted, and their files until the act expires; for no act, delete the files.

    Rows come in an order in which they can be stored again.
    """
    if act is None:
        delete_on_commit(*files, folders=list(folders))
        return
    act.rows += serializers.serialize("python", rows)
    act.files += [name for name in files if name]
    act.folders += folders


def restore_rows(act: Act) -> None:
    """Store the rows again that the act put aside.

    Raises DomainError `changed_since` if something took their place, or what they refer to is gone.
    """
    try:
        with transaction.atomic():
            found = list(serializers.deserialize("python", act.rows))
            for row in found:
                row.save(force_insert=True)
            connection.check_constraints({row.object._meta.db_table for row in found})
    except IntegrityError:
        raise changed_since() from None


def changed_since(what: str = "It") -> DomainError:
    """Return the refusal to take back what somebody has changed since."""
    return DomainError("changed_since", f"{what} was changed since. The act cannot be undone: nothing was changed now.")


@transaction.atomic
def take_back(*, act_id: UUID, user: User, now: datetime) -> Act:
    """Undo an act of the user's, once; return it.

    Raises DomainError `expired` (EXPIRED), `not_allowed`, or what the kind of act refuses.
    """
    act = Act.objects.select_for_update().filter(pk=act_id, user=user, expires_at__gt=now).first()
    if act is None:
        n = int(KEPT_FOR.total_seconds()) // 60
        raise DomainError(EXPIRED, f"This was undone before, or more than {n} minutes ago: it stays as it is.")
    import_all()  # beside which it is said how acts are taken back
    try:
        _take_back[act.kind](user, act)
    except (Http404, PermissionDenied):
        raise DomainError("not_allowed", "You may no longer change this: it stays as it is.") from None
    act.delete()
    return act


def forget_acts(campaign: UUID) -> None:
    """Let no act in a campaign be taken back any more: what was put aside is deleted with its files."""
    _forget(Act.objects.filter(campaign=campaign))


def forget_expired(now: datetime) -> None:
    """Delete acts that can no longer be taken back, with the files that waited."""
    _forget(Act.objects.filter(expires_at__lte=now))


def _forget(found: models.QuerySet[Act]) -> None:
    if not found.exists():  # on SQLite even an empty transaction stops all who write
        return
    with transaction.atomic():
        for act in found.select_for_update().only("pk", "files", "folders").order_by("pk"):
            delete_on_commit(*act.files, folders=act.folders)
            act.delete()
