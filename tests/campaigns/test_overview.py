"""What the overview of a campaign leads to, stage by stage."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign

pytestmark = pytest.mark.django_db


def page(client: Client, campaign: Campaign) -> Any:
    return client.get(reverse("campaigns:campaign", args=[campaign.public_id]))


def next_url(client: Client, campaign: Campaign) -> str | None:
    step = page(client, campaign).context["step"]
    return step.url if step else None
