"""The page of members."""

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User


def url(campaign: Campaign, name: str = "members", *args: int) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def roles(campaign: Campaign) -> dict[str, str]:
    return dict(campaign.memberships.values_list("user__email", "role"))


def of(campaign: Campaign, user: User) -> int:
    return Membership.objects.get(campaign=campaign, user=user).pk


OWNER, COLLEAGUE, STRANGER = "owner@example.org", "colleague@example.org", "stranger@example.org"


@pytest.mark.parametrize(("email", "role"), [("no address", "editor"), ("", "editor"), (STRANGER, "king")])
def test_who_cannot_be_invited(owner_client: Client, stranger, campaign: Campaign, email: str, role: str) -> None:
    response = owner_client.post(url(campaign), {"email": email, "role": role})
    assert response.status_code == 422
    assert response.context["member_form"].errors
    assert not campaign.member_invitations.exists()


def test_members_need_no_invitation(owner_client: Client, campaign: Campaign) -> None:
    for role in ("viewer", "editor"):
        response = owner_client.post(url(campaign), {"email": COLLEAGUE.upper(), "role": role})
        assert response.status_code == 422
        assert "is a member already" in response.text
    assert roles(campaign) == {OWNER: "owner", COLLEAGUE: "viewer"}


def test_another_role(owner_client: Client, colleague, campaign: Campaign) -> None:
    to = url(campaign, "member", of(campaign, colleague))
    for _ in range(2):
        assert owner_client.post(to, {"role": "owner"}).status_code == 302
    assert roles(campaign)[COLLEAGUE] == "owner"
    assert owner_client.post(to, {"role": "king"}).status_code == 422


def test_the_only_owner_stays(owner, owner_client: Client, campaign: Campaign) -> None:
    own = of(campaign, owner)
    for to, sent in ((url(campaign, "member", own), {"role": "viewer"}), (url(campaign, "member_remove", own), {})):
        response = owner_client.post(to, sent)
        assert response.status_code == 422
        assert response.context["error"].code == "no_owner"
    assert roles(campaign)[OWNER] == "owner"


def test_one_of_two_owners_may_go(owner, owner_client: Client, colleague, campaign: Campaign) -> None:
    campaign.memberships.update(role="owner")
    own = url(campaign, "member_remove", of(campaign, owner))
    assert owner_client.post(own)["Location"] == reverse("campaigns:list")
    assert owner_client.get(url(campaign)).status_code == 404
    assert roles(campaign) == {COLLEAGUE: "owner"}


def test_remove(owner_client: Client, viewer_client: Client, colleague, campaign: Campaign) -> None:
    to = url(campaign, "member_remove", of(campaign, colleague))
    for _ in range(2):
        assert owner_client.post(to).status_code == 302
    assert viewer_client.get(url(campaign)).status_code == 404


def test_members_see_each_other_without_buttons(viewer_client: Client, campaign: Campaign) -> None:
    text = viewer_client.get(url(campaign)).text
    assert OWNER in text
    assert "member_remove" not in text
    assert "/remove/" not in text
