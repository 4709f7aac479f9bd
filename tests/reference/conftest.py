"""Published numbers, of results that a database has kept."""

from collections.abc import Callable
from typing import Any

import pytest

from analysis.models import AnalysisRun, RatingsFile
from evalsite.accounts.models import User

Kept = Callable[[Any], Any]


@pytest.fixture(scope="module")
def kept(module_db: None) -> Kept:
    """Return a function that stores a report, or a part of one, and returns it as the database gives it back."""

    def store_and_read(report: Any) -> Any:
        owner, _ = User.objects.get_or_create(email="owner@example.org")
        file = RatingsFile.objects.create(owner=owner, title="Published", name="ratings.csv", size=1, sha256="0" * 64)
        run = AnalysisRun.objects.create(ratings_file=file, created_by=owner, settings={}, mapping={}, report=report)
        return AnalysisRun.objects.get(pk=run.pk).report

    return store_and_read
