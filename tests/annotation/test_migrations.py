"""Responses and criteria of existing installations go through their migrations, on both databases."""

from collections.abc import Iterator
from typing import Any

import dj_database_url
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests import databases
from tests.databases import migrate_to
from tests.services import new_database

BEFORE = [("campaigns", "0012_adaptive"), ("annotation", "0012_draw_probability")]
AFTER = [("campaigns", "0013_response_kinds"), ("annotation", "0014_response_scores")]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def own_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty database, which no other module uses: from there it is not as far as back from the newest tables."""
    folder = tmp_path_factory.mktemp("migrations")
    with request.getfixturevalue("django_db_blocker").unblock():
        if request.param == "sqlite":
            own = databases.sqlite_at(folder / "db.sqlite3")
        else:
            own = dj_database_url.parse(new_database(request.getfixturevalue("postgres_url"), folder.name))
        with databases.using_database(own):
            yield


@pytest.fixture(scope="module")
def after(own_database: None) -> Iterator[Any]:
    """The models after the migration of one rated item with two criteria."""
    before = migrate_to(*BEFORE)
    model = before.get_model
    campaign = model("campaigns", "Campaign").objects.create(name="Old", protocol="qg")
    source = model("campaigns", "Source").objects.create(campaign=campaign, name="s")
    system = model("campaigns", "System").objects.create(campaign=campaign, name="m")
    output = model("campaigns", "Output").objects.create(source=source, system=system, text="Who?")
    hit = model("campaigns", "Hit").objects.create(campaign=campaign, number=1)
    item = model("campaigns", "HitItem").objects.create(hit=hit, position=1, kind=0, output=output, text="Who?")
    worker = model("annotation", "Worker").objects.create(platform="link", key="ann")
    assignment = model("annotation", "Assignment").objects.create(
        campaign=campaign, hit=hit, worker=worker, n_rated=1, n_items=1, leased_until=timezone.now()
    )
    for order, (name, score) in enumerate([("clear", 0), ("dull", 100)]):
        criterion = model("campaigns", "Criterion").objects.create(
            campaign=campaign, order=order, name=name, statement=f"It is {name}.", right_label=f"very {name}"
        )
        model("annotation", "Rating").objects.create(assignment=assignment, item=item, criterion=criterion, score=score)
    yield migrate_to(*AFTER)
    labels = migrate_to(*BEFORE).get_model("campaigns", "Criterion").objects.order_by("order")
    assert [each.right_label for each in labels] == ["very clear", "very dull"], "they come back"


def test_scores_become_responses_and_labels_options_of_sliders(after: Any) -> None:
    rows = after.get_model("annotation", "Response").objects.order_by("criterion__order")
    assert [(row.criterion.name, row.value, row.score, row.abstained) for row in rows] == [
        ("clear", 0, 0.0, ""),
        ("dull", 100, 100.0, ""),
    ]
    criteria = after.get_model("campaigns", "Criterion").objects.order_by("order")
    assert [(each.response, each.settings, each.is_required, each.may_abstain) for each in criteria] == [
        ("slider", {"left_label": "strongly disagree", "right_label": f"very {name}"}, True, False)
        for name in ("clear", "dull")
    ]


def test_responses_that_there_are_become_those_of_whole_items(after: Any) -> None:
    later = migrate_to(("campaigns", "0018_turn_scope"), ("annotation", "0016_response_turn"))
    responses = later.get_model("annotation", "Response").objects
    assert list(responses.order_by("pk").values_list("turn", "value")) == [(0, 0), (0, 100)]
    again = responses.first()
    again.pk, again.turn = None, 2
    again.save()  # of a reply of the same chat
    again.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save()
    responses.filter(turn=2).delete()
    assert set(later.get_model("campaigns", "Criterion").objects.values_list("scope", flat=True)) == {"output"}


def test_items_that_there_are_keep_their_outputs_and_those_of_a_tutorial_have_none(after: Any) -> None:
    later = migrate_to(("campaigns", "0020_tutorial_items"), ("annotation", "0016_response_turn"))
    items = later.get_model("campaigns", "HitItem").objects
    (item,) = items.all()
    assert (item.kind, item.output.text, item.fields, item.hit.campaign.n_tutorial) == (0, "Who?", None, 0)
    for kind, output, fields in [(0, None, None), (0, item.output, {}), (4, item.output, {}), (4, None, None)]:
        with pytest.raises(IntegrityError), transaction.atomic():
            items.create(hit=item.hit, position=2, kind=kind, output=output, fields=fields, text="How?")
    items.create(hit=item.hit, position=2, kind=4, fields={"source": "Step 1"}, text="How?").delete()


def test_invitations_and_sources_that_there_are_have_no_attributes_and_keep_the_rest(after: Any) -> None:
    """Forth and back, as attributes of raters and those of sources came."""
    ago = [("campaigns", "0020_tutorial_items"), ("annotation", "0016_response_turn")]
    before = migrate_to(*ago)
    assignment = before.get_model("annotation", "Assignment").objects.get()
    invitations = before.get_model("annotation", "Invitation").objects
    kept = {"email": "ann@example.org", "key": "k" * 20, "revoked_at": timezone.now()}
    invitations.create(campaign=assignment.campaign, worker=assignment.worker, **kept)
    later = migrate_to(("campaigns", "0021_source_attributes"), ("annotation", "0017_rater_attributes"))
    [invitation] = later.get_model("annotation", "Invitation").objects.all()
    assert {name: getattr(invitation, name) for name in kept} == kept
    assert (invitation.attribute_values, invitation.attributes_at) == ({}, None)
    invitation.attribute_values = {"pool": "lab"}
    invitation.save()
    source = later.get_model("campaigns", "Source").objects.get()
    assert (source.name, source.attribute_values) == ("s", {})
    source.attribute_values = {"domain": "news"}
    source.save()
    again = migrate_to(*ago)
    assert again.get_model("annotation", "Invitation").objects.get().email == "ann@example.org"
    again.get_model("annotation", "Invitation").objects.all().delete()
    assert again.get_model("campaigns", "Source").objects.get().name == "s"


def test_uploads_that_there_are_have_no_packed_files_and_campaigns_none(after: Any) -> None:
    before = migrate_to(("campaigns", "0021_source_attributes"), ("annotation", "0017_rater_attributes"))
    campaign = before.get_model("campaigns", "Campaign").objects.get()
    user = before.get_model("accounts", "User").objects.create(email="ann@example.org")
    uploads = before.get_model("campaigns", "Upload").objects
    uploads.create(campaign=campaign, name="outputs.csv", file="uploads/1", size=9, uploaded_by=user)
    later = migrate_to(("campaigns", "0022_stored_files"), ("annotation", "0017_rater_attributes"))
    upload = later.get_model("campaigns", "Upload").objects.get()
    assert (upload.file.name, upload.packed.name, upload.campaign.files.count()) == ("uploads/1", "", 0)
    upload.campaign.files.create(digest="0" * 64, file="files/0", size=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        upload.campaign.files.create(digest="0" * 64, file="files/1", size=1)
    again = migrate_to(("campaigns", "0021_source_attributes"), ("annotation", "0017_rater_attributes"))
    assert again.get_model("campaigns", "Upload").objects.get().file.name == "uploads/1"
    again.get_model("campaigns", "Upload").objects.all().delete()
