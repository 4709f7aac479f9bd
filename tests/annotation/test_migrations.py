"""Responses and criteria of existing installations go through their migrations, on both databases."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.databases import on_both

pytestmark = [on_both, pytest.mark.django_db(transaction=True)]
BEFORE = [("campaigns", "0012_adaptive"), ("annotation", "0012_draw_probability")]
AFTER = [("campaigns", "0013_response_kinds"), ("annotation", "0014_response_scores")]


def migrate(targets: list[tuple[str, str]]) -> Any:
    """Migrate to these migrations; return the models of that state."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def after() -> Any:
    """The models after the migration of one rated item with two criteria; the tables are the latest ones at the end."""
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    before = migrate(BEFORE)
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
    yield migrate(AFTER)
    labels = migrate(BEFORE).get_model("campaigns", "Criterion").objects.order_by("order")
    assert [each.right_label for each in labels] == ["very clear", "very dull"], "they come back"
    migrate(latest)


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
