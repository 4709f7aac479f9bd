"""What finished HITs hold, read from either database as arrays."""

from itertools import pairwise

import numpy as np

from analysis.stats.ratings import match_twins
from analysis.web.queries.finished_work import read_ratings
from annotation.models import Assignment, Response
from campaigns.models import HitItem
from evalsite.accounts.models import User
from tests.analysis.campaigns import rated_campaign
from tests.databases import on_both

pytestmark = on_both


def test_ratings_come_in_order_with_their_twins(owner: User) -> None:
    campaign = rated_campaign(owner, workers_per_hit=2, n_hits=3)
    found = read_ratings(campaign, list(Assignment.objects.values_list("worker_id", flat=True)))
    ratings = found.ratings
    assert ratings.scores.shape == (3 * 2 * 10, 4)
    assert not np.isnan(ratings.scores).any()
    assert (np.diff(ratings.worker) >= 0).all() and (np.diff(ratings.assignment) >= 0).all()
    twins = HitItem.objects.filter(hit__number=1, twin_position__isnull=False).values_list("position", "twin_position")
    twin = match_twins(ratings)
    first = np.flatnonzero(ratings.assignment == 0)
    assert {(row - first[0] + 1, twin[row] - first[0] + 1) for row in first if twin[row] >= 0} == set(twins)
    pages = Response.objects.order_by("assignment__worker", "assignment", "rated_at")
    rated = list(pages.values_list("assignment", "rated_at").distinct())
    began = dict(Assignment.objects.values_list("pk", "started_at"))
    before = [began[pk] if pk != last else at for (last, at), (pk, _) in pairwise([(0, None), *rated])]
    took = [(at - start).total_seconds() for (_, at), start in zip(rated, before, strict=True)]
    assert found.seconds.tolist() == took
