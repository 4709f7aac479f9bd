"""Campaigns: made, configured, launched, closed, copied, deleted; and their members."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.resources.accounts import UserShape
from api.resources.jobs import JobShape
from api.shapes import cleaned, model_shape, sent_to, shape_of
from campaigns.checklist import Step, checklist
from campaigns.contracts.protocol import CriterionSpec
from campaigns.contracts.records import Counted
from campaigns.design_file import design_pieces
from campaigns.forms.campaigns import ArchiveForm, CampaignFilter, DeleteForm, LaunchForm, MemberForm, NewForm, RoleForm
from campaigns.forms.design_file import DesignFileForm
from campaigns.invitations import link_path, list_member_invitations
from campaigns.models import Campaign, MemberInvitation, Membership
from campaigns.protocols import list_protocols
from campaigns.queries import (
    LIST_ORDERS,
    Contents,
    ListedCampaign,
    Role,
    contents_of,
    get_campaign_for,
    get_membership_of,
    list_campaigns_for,
    list_members,
    list_places,
    list_related_runs,
)
from campaigns.services.campaigns import create_campaign
from campaigns.services.copies import create_from_design, duplicate_campaign
from campaigns.services.deletion import (
    count_contents,
    refusals_of,
    request_deletion,
    warnings_of,
)
from campaigns.services.lifecycle import (
    archive_campaign,
    close_campaign,
    launch_campaign,
    pause_campaign,
    resume_campaign,
    unarchive_campaign,
)
from campaigns.services.members import (
    change_role,
    invite_member,
    mail_invitation,
    remove_member,
    withdraw_invitation,
)
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.models import Scope
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT, DomainError


@dataclass(frozen=True)
class ProtocolSummary:
    """A kind of evaluation that a campaign can be made of."""

    slug: str
    title: str
    summary: str
    worker_test: str
    alpha: float
    is_live: bool
    criteria: tuple[CriterionSpec, ...]


class Protocols(Resource):
    """The protocols of this site."""

    @operation(Scope.READ, returns=ProtocolSummary, many="all")
    def get(self, request: ApiRequest) -> list[ProtocolSummary]:
        """Return the protocols."""
        return [
            ProtocolSummary(p.slug, p.title, p.summary, p.worker_test, p.alpha, p.chat is not None, p.criteria)
            for p in list_protocols()
        ]


class CampaignShape(serializers.ModelSerializer[Campaign]):
    """A campaign; what is set is at addresses of its own."""

    my_role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    is_live = serializers.BooleanField(read_only=True, help_text="Workers chat with the systems.")

    class Meta:
        model = Campaign
        fields = (
            *("public_id", "name", "protocol", "status", "platform", "created_at", "launched_at", "closed_at"),
            *("archived_at", "is_live", "my_role"),
        )
        read_only_fields = fields


class ListedCampaignShape(serializers.Serializer[ListedCampaign]):
    """A campaign in the list."""

    public_id = serializers.UUIDField(source="campaign.public_id")
    name = serializers.CharField(source="campaign.name")
    protocol = serializers.CharField(source="campaign.protocol")
    status = serializers.ChoiceField(source="campaign.status", choices=Campaign.Status.choices)
    created_at = serializers.DateTimeField(source="campaign.created_at")
    archived_at = serializers.DateTimeField(source="campaign.archived_at", allow_null=True)
    active_at = serializers.DateTimeField(
        help_text="When something was made, launched, closed or uploaded last, or a worker did something."
    )
    my_role = serializers.ChoiceField(source="membership.role", choices=Role.choices)
    n_hits = serializers.IntegerField()
    n_places = serializers.IntegerField(help_text="HITs times workers of each.")
    n_taken = serializers.IntegerField(help_text="Places that a worker has, or has finished.")
    n_finished = serializers.IntegerField(help_text="Assignments that are finished.")


class Campaigns(Resource):
    """One's campaigns."""

    @operation(Scope.READ, returns=ListedCampaignShape, filters=CampaignFilter, many="pages")
    def get(self, request: ApiRequest) -> Listed:
        """List the campaigns that the user is a member of, newest first; archived ones only if asked for."""
        form = CampaignFilter(request.query_params)
        cleaned(form)
        wanted = {"sort": "created", **form.filters()}
        return Listed(list_campaigns_for(request.user, **wanted), LIST_ORDERS[wanted["sort"]], list_places)

    @operation(Scope.EDIT, takes=NewForm, returns=CampaignShape, status=201, fields={"id_taken": "public_id"})
    def post(self, request: ApiRequest) -> Campaign:
        """Make a draft of a protocol. With a `public_id` of one's own, sending it twice makes one."""
        form = NewForm(sent_to(NewForm, request))
        made = create_campaign(owner=request.user, **cleaned(form))
        note_act(campaign=made.public_id)
        return get_campaign_for(request.user, made.public_id)


class OneCampaign(Resource):
    """A campaign."""

    @operation(Scope.READ, returns=CampaignShape)
    def get(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Return the campaign."""
        return campaign

    @operation(Scope.ADMIN, role=Role.OWNER, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign) -> None:
        """Delete a campaign that was never launched; a job does it if it is large, or raters were invited to it.

        Of launched ones see `deletion/`.
        """
        if campaign.is_launched:
            text = "Workers have rated in this campaign. To delete it, POST its name to deletion/."
            raise DomainError("frozen", text)
        request_deletion(campaign=campaign, user=request.user)


class Archive(Resource):
    """Whether the campaign is left out of lists."""

    @operation(Scope.ADMIN, role=Role.OWNER, takes=ArchiveForm, returns=CampaignShape, refused=CONFLICT)
    def put(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Archive the campaign or have it in lists again. A running or paused one has to be closed first."""
        is_archived = cleaned(ArchiveForm(sent_to(ArchiveForm, request)))["is_archived"]
        (archive_campaign if is_archived else unarchive_campaign)(campaign=campaign)
        return _again(request, campaign)


class DeletionShape(serializers.Serializer[Any]):
    """What goes if the campaign is deleted, and what stands in the way."""

    contents = shape_of(Counted)(many=True)
    refusals = serializers.ListField(child=serializers.CharField(), help_text="Why it cannot be deleted now.")
    warnings = serializers.ListField(child=serializers.CharField())
    job = JobShape(allow_null=True, help_text="Of a campaign that is being deleted.")


class DeletionOf(Resource):
    """The deletion of a campaign with everything in it."""

    @operation(Scope.READ, role=Role.OWNER, returns=DeletionShape, while_deleting=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Return what would go and what stands in the way; once begun, how far it is."""
        refusals = [] if campaign.is_being_deleted else refusals_of(campaign)
        return {
            "contents": count_contents(campaign),
            "refusals": refusals,
            "warnings": warnings_of(campaign),
            "job": campaign.deletion_job,
        }

    @operation(
        Scope.ADMIN,
        role=Role.OWNER,
        takes=DeleteForm,
        returns=DeletionShape,
        status=202,
        refused=CONFLICT,
        fields={"wrong_name": "name"},
        takes_key=False,
        while_deleting=True,
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Delete the campaign: its `name` has to be sent if it was launched. A job does it, unless `job` is null."""
        name = cleaned(DeleteForm(sent_to(DeleteForm, request)))["name"]
        contents, warnings = count_contents(campaign), warnings_of(campaign)
        job = request_deletion(campaign=campaign, user=request.user, name=name)
        return {"contents": contents, "refusals": [], "warnings": warnings, "job": job}


class ContentsOf(Resource):
    """How much a campaign holds."""

    @operation(Scope.READ, returns=Contents)
    def get(self, request: ApiRequest, campaign: Campaign) -> Contents:
        """Return the numbers of systems, sources, outputs, HITs and places."""
        return contents_of(campaign)


class Checklist(Resource):
    """What is missing before the launch."""

    @operation(Scope.READ, returns=Step, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> list[Step]:
        """Return the steps of setting the campaign up: `todo` ones keep it from being launched."""
        return checklist(campaign)


class Launch(Resource):
    """The launch."""

    @operation(Scope.LAUNCH, takes=LaunchForm, returns=CampaignShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Open the campaign to workers. Refused as `not_ready`, or as `no_worker_can_pass` unless that is confirmed."""
        form = LaunchForm(sent_to(LaunchForm, request))
        launch_campaign(campaign=campaign, is_confirmed=cleaned(form)["is_confirmed"])
        return _again(request, campaign)


class Pause(Resource):
    """A pause."""

    @operation(Scope.LAUNCH, returns=CampaignShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Give out no more HITs for a while."""
        pause_campaign(campaign=campaign)
        return _again(request, campaign)


class Resume(Resource):
    """The end of a pause."""

    @operation(Scope.LAUNCH, returns=CampaignShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Give out HITs again."""
        resume_campaign(campaign=campaign)
        return _again(request, campaign)


class Close(Resource):
    """The end."""

    @operation(Scope.LAUNCH, returns=CampaignShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """End the campaign for good, and have it analysed."""
        close_campaign(campaign=campaign)
        return _again(request, campaign)


RelatedRunShape = model_shape("RelatedRun", Campaign, "public_id", "name", "status", "created_at")


class RelatedRunsShape(serializers.Serializer[Any]):
    """The runs of one study."""

    original = RelatedRunShape(allow_null=True)
    replications = RelatedRunShape(many=True)


class CopyForm(forms.Form):
    """A copy of a campaign."""

    public_id = forms.UUIDField(required=False, help_text="Of the copy. Sending it twice makes one.")
    as_replication = forms.BooleanField(
        required=False, help_text="A run that replicates the campaign, rather than a version to be changed."
    )


class RelatedRuns(Resource):
    """The runs of one study."""

    @operation(Scope.READ, returns=RelatedRunsShape)
    def get(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Return the campaign that this one replicates, and those that replicate it: those that you are a member of."""
        original, replications = list_related_runs(request.user, campaign)
        return {"original": original, "replications": replications}


class Copies(Resource):
    """Copies of a campaign."""

    @operation(
        Scope.EDIT,
        role=Role.VIEWER,
        takes=CopyForm,
        returns=CampaignShape,
        status=201,
        fields={"id_taken": "public_id"},
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Campaign:
        """Make a draft with the same data and settings: a replication run, or a version to be changed."""
        form = CopyForm(sent_to(CopyForm, request))
        return _again(request, duplicate_campaign(campaign=campaign, owner=request.user, **cleaned(form)))


class OutputsForm(forms.Form):
    """What is in a design file."""

    outputs = forms.BooleanField(
        required=False,
        help_text="With sources and outputs; of live chats, with the dialogues of the chatbots.",
    )


class DesignFile(Resource):
    """A campaign as a file, from which any site makes a draft."""

    @operation(Scope.READ, filters=OutputsForm, media_type="application/json")
    def get(self, request: ApiRequest, campaign: Campaign) -> StreamingHttpResponse:
        """Stream the design file: what was set up, without secrets, members, HITs and answers."""
        has_outputs = cleaned(OutputsForm(request.query_params))["outputs"]
        pieces = design_pieces(campaign, has_outputs=has_outputs)
        return StreamingHttpResponse(pieces, content_type="application/json")


class DesignFiles(Resource):
    """Campaigns of other sites."""

    parser_classes = (MultiPartParser,)  # type: ignore[assignment]

    @operation(Scope.EDIT, takes=DesignFileForm, returns=CampaignShape, status=201, fields={"id_taken": "public_id"})
    def post(self, request: ApiRequest) -> Campaign:
        """Make a draft of a design file. All that is wrong with it is said at once."""
        values = cleaned(DesignFileForm(request.POST, request.FILES))
        made = create_from_design(owner=request.user, design=values["file"], public_id=values["public_id"])
        note_act(campaign=made.public_id)
        return get_campaign_for(request.user, made.public_id)


def _again(request: ApiRequest, campaign: Campaign) -> Campaign:
    """Return the campaign as it is now, with the user's role."""
    return get_campaign_for(request.user, campaign.public_id)


class MembershipShape(serializers.ModelSerializer[Membership]):
    """Somebody's part in a campaign."""

    user = UserShape(read_only=True)

    class Meta:
        model = Membership
        fields = ("id", "user", "role")
        read_only_fields = fields


@dataclass(frozen=True)
class MemberInvitationShape:
    """An invitation to be a member; `url` is empty where the site mails it, `mailed_at` null where it was not."""

    id: int
    email: str
    role: Membership.Role
    expires_at: datetime
    mailed_at: datetime | None
    url: str


def _shown(request: ApiRequest, invitation: MemberInvitation) -> MemberInvitationShape:
    url = "" if is_mail_set_up() else str(request.build_absolute_uri(link_path(invitation)))
    role = Membership.Role(invitation.role)
    return MemberInvitationShape(
        invitation.pk, invitation.email, role, invitation.expires_at, invitation.mailed_at, url
    )


class Members(Resource):
    """The members of a campaign."""

    @operation(Scope.READ, returns=MembershipShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """List the members."""
        return list_members(campaign)

    @operation(
        Scope.ADMIN,
        role=Role.OWNER,
        takes=MemberForm,
        returns=MemberInvitationShape,
        status=201,
        fields={"already_member": "email"},
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> MemberInvitationShape:
        """Invite somebody, with or without an account, or renew the invitation. They are a member once they accept."""
        form, now = MemberForm(sent_to(MemberForm, request)), timezone.now()
        invitation = invite_member(campaign=campaign, **cleaned(form), by=request.user, now=now)
        note_act(about=f"{invitation.email}, {invitation.role}")
        if is_mail_set_up():
            mail_invitation(invitation=invitation, url=request.build_absolute_uri(link_path(invitation)), now=now)
            invitation.refresh_from_db()
        return _shown(request, invitation)


class MemberInvitations(Resource):
    """Invitations that nobody has answered."""

    @operation(Scope.ADMIN, role=Role.OWNER, returns=MemberInvitationShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> list[MemberInvitationShape]:
        """List the invitations; those that have expired are among them."""
        return [_shown(request, each) for each in list_member_invitations(campaign)]


class OneMemberInvitation(Resource):
    """One invitation to be a member."""

    @operation(Scope.ADMIN, role=Role.OWNER, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign, member_invitation_id: int) -> None:
        """Withdraw the invitation."""
        note_act(about=get_object_or_404(list_member_invitations(campaign), pk=member_invitation_id).email)
        withdraw_invitation(campaign=campaign, invitation_id=member_invitation_id)


class Member(Resource):
    """One member."""

    @operation(Scope.READ, returns=MembershipShape)
    def get(self, request: ApiRequest, campaign: Campaign, membership_id: int) -> Membership:
        """Return the member."""
        return get_membership_of(campaign, membership_id)

    @operation(Scope.ADMIN, role=Role.OWNER, takes=RoleForm, returns=MembershipShape)
    def put(self, request: ApiRequest, campaign: Campaign, membership_id: int) -> Membership:
        """Give the member another role."""
        membership = get_membership_of(campaign, membership_id)
        role = cleaned(RoleForm(sent_to(RoleForm, request)))["role"]
        change_role(campaign=campaign, membership=membership, role=role)
        note_act(about=f"{membership.user.email}, {role}")
        return get_membership_of(campaign, membership_id)

    @operation(Scope.ADMIN, role=Role.OWNER, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign, membership_id: int) -> None:
        """Take the member out."""
        note_act(about=get_membership_of(campaign, membership_id).user.email)
        remove_member(campaign=campaign, membership_id=membership_id)
