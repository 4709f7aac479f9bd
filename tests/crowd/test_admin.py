"""What an admin sees of published work and of orders: to look only."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crowd.models import Order, Posting, Submission, Wave
from evalsite.accounts.models import User
from tests.crowd.paying import paid_campaign, submissions_of

pytestmark = pytest.mark.django_db
MODELS = (Wave, Posting, Submission, Order)


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.org"))
    return client


@pytest.fixture(autouse=True)
def orders(owner: User) -> list[Order]:
    campaign = paid_campaign(owner)
    return [
        Order.objects.create(campaign=campaign, kind=Order.Kind.APPROVE, submission=each, worker=each.worker)
        for each in submissions_of(campaign)
    ]


@pytest.mark.parametrize("model", MODELS)
def test_admins_look_and_do_not_change(admin_client: Client, model: type[Wave | Posting | Submission | Order]) -> None:
    name = f"admin:crowd_{model._meta.model_name}"
    row = model.objects.latest("pk")
    page = reverse(f"{name}_change", args=[row.pk])
    assert admin_client.get(page).status_code == 200
    assert admin_client.post(page, {"state": "published"}).status_code == 403
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
    admin_client.post(reverse(f"{name}_changelist"), sent)
    assert model.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize(
    ("name", "words", "n_found"),
    [
        ("wave", "owner@example.org", 1),
        ("posting", "POSTING2", 1),
        ("submission", "WORKER1", 2),
        ("order", "WORKER1", 2),
    ],
)
def test_admins_find_what_they_look_for(admin_client: Client, name: str, words: str, n_found: int) -> None:
    listed = admin_client.get(reverse(f"admin:crowd_{name}_changelist"), {"q": words})
    assert listed.context["cl"].result_list.count() == n_found


def test_an_order_is_found_by_its_token(admin_client: Client, orders: list[Order]) -> None:
    listed = admin_client.get(reverse("admin:crowd_order_changelist"), {"q": str(orders[2].token)})
    assert listed.context["cl"].result_list.get() == orders[2]


@pytest.mark.parametrize("model", MODELS)
def test_a_long_list_asks_the_database_no_more_often(
    admin_client: Client, owner: User, model: type[Wave | Posting | Submission | Order]
) -> None:
    address = reverse(f"admin:crowd_{model._meta.model_name}_changelist")
    few = _queries(admin_client, address)
    for submission in submissions_of(paid_campaign(owner, n_hits=4)):
        Order.objects.create(
            campaign=submission.campaign, kind=Order.Kind.APPROVE, submission=submission, worker=submission.worker
        )
    assert _queries(admin_client, address) == few


def _queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_others_do_not_get_in(owner_client: Client) -> None:
    for model in MODELS:
        assert owner_client.get(reverse(f"admin:crowd_{model._meta.model_name}_changelist")).status_code == 302
