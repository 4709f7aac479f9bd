"""Data of existing installations, migrated from the state before a change."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from analysis.models import RatingsFile

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("analysis", "0002_campaign_snapshots")]


def test_files_of_before_are_utf8_and_on_0_to_100(owner) -> None:
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    try:
        old: Any = executor.loader.project_state(BEFORE).apps.get_model("analysis", "RatingsFile")
        sender = old._meta.get_field("owner").related_model.objects.get(pk=owner.pk)
        kept = old.objects.create(owner=sender, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64)
    finally:
        MigrationExecutor(connection).migrate(latest)
    file = RatingsFile.objects.get(pk=kept.pk)
    assert (file.encoding, file.scale, file.owner_id) == ("utf-8", None, owner.pk)
