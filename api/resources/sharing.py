"""Links that show a campaign's newest results without signing in."""

from dataclasses import dataclass
from datetime import date, datetime

from analysis.models import ShareLink
from analysis.web.forms.runs import ShareForm
from analysis.web.navigation import share_path
from analysis.web.queries.campaigns import get_share_link_of, list_share_links
from analysis.web.services.sharing import create_share_link, revoke_share_link
from api.access import ApiRequest
from api.operations import Resource, operation
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from campaigns.queries import Role
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT


@dataclass(frozen=True)
class ShareLinkShape:
    """A link to results; `ends_on` is its last day in UTC, null if it has none."""

    id: int
    url: str
    note: str
    ends_on: date | None
    created_at: datetime
    is_open: bool


def _shown(request: ApiRequest, link: ShareLink) -> ShareLinkShape:
    url = str(request.build_absolute_uri(share_path(link)))
    return ShareLinkShape(link.pk, url, link.note, link.ends_on, link.created_at, link.is_open)


class ShareLinks(Resource):
    """The links to a campaign's results."""

    @operation(Scope.READ, role=Role.EDITOR, returns=ShareLinkShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> list[ShareLinkShape]:
        """List the links that were not revoked, newest first."""
        return [_shown(request, link) for link in list_share_links(campaign)]

    @operation(
        Scope.EDIT,
        takes=ShareForm,
        returns=ShareLinkShape,
        status=201,
        refused=CONFLICT,
        fields=ShareForm.field_of_code,
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> ShareLinkShape:
        """Make a link: everybody who has it reads the newest results without signing in, workers renamed."""
        data = cleaned(ShareForm(sent_to(ShareForm, request)))
        return _shown(request, create_share_link(campaign=campaign, user=request.user, **data))


class OneShareLink(Resource):
    """One link to a campaign's results."""

    @operation(Scope.EDIT)
    def delete(self, request: ApiRequest, campaign: Campaign, link_id: int) -> None:
        """Revoke the link: from now on it shows nothing."""
        revoke_share_link(link=get_share_link_of(campaign, link_id))
