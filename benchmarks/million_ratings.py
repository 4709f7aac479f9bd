"""A finished campaign of very many ratings, as METHOD's designs make one, in the database."""

from datetime import timedelta
from typing import Any

import numpy as np

N_SYSTEMS, N_CRITERIA = 50, 4
KINDS = np.repeat(np.arange(4), [70, 10, 10, 10])  # ordinary, degraded, repeat, reference: those of a HIT
HIT_SIZE, N_ORDINARY, N_COPIES = 100, 70, 10
WORKERS_PER_HIT, HITS_PER_WORKER = 2, 5
CARELESS = 0.15
CHUNK = 100_000
_LINE = "the harbour was rebuilt in stone after a flood and its market moved to northern side of old town"
WORDS = _LINE.split()


def make_campaign(n_ratings: int) -> Any:
    """Return a closed campaign and its owner; `n_ratings` is a multiple of 4,000.

    HITs of 100 items with four sliders, each rated by two workers, five HITs a worker; every output of every system is
    in one HIT. Workers differ in mean, spread, noise and in the systems that they like; 15 in 100 click anywhere.
    """
    from django.utils import timezone

    from annotation.models import Assignment, Worker
    from campaigns.models import Campaign, Criterion, Hit, HitItem, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    rng = np.random.default_rng(11)
    n_assignments = n_ratings // (HIT_SIZE * N_CRITERIA)
    n_hits, n_workers = n_assignments // WORKERS_PER_HIT, n_assignments // HITS_PER_WORKER
    user = User.objects.create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol="qg", name="Very many ratings")
    now = timezone.now()
    Campaign.objects.filter(pk=campaign.pk).update(
        status=Campaign.Status.CLOSED, launched_at=now, closed_at=now, workers_per_hit=WORKERS_PER_HIT,
        n_ordinary=N_ORDINARY, n_degraded=N_COPIES, n_repeat=N_COPIES, n_reference=N_COPIES,
    )  # fmt: skip
    campaign.refresh_from_db()
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system-{k:02}") for k in range(N_SYSTEMS))
    sources = Source.objects.bulk_create(
        (
            Source(campaign=campaign, name=f"source-{k}", fields={"passage": words(rng, 120), "answer": words(rng, 4)})
            for k in range(n_hits * N_ORDINARY // N_SYSTEMS)
        ),
        batch_size=CHUNK,
    )
    outputs = Output.objects.bulk_create(
        (Output(source=source, system=system, text=words(rng, 12)) for source in sources for system in systems),
        batch_size=CHUNK,
    )
    drawn = rng.permutation(len(outputs)).reshape(n_hits, N_ORDINARY)  # without replacement
    hits = Hit.objects.bulk_create(Hit(campaign=campaign, number=k + 1, n_places_left=0) for k in range(n_hits))
    in_hit = np.concatenate([np.arange(N_ORDINARY), *[np.arange(N_COPIES)] * 3])
    order = rng.permuted(np.tile(np.arange(HIT_SIZE), (n_hits, 1)), axis=1)  # the item at each position
    position = np.argsort(order, axis=1) + 1
    items = HitItem.objects.bulk_create(
        (
            HitItem(
                hit=hit, position=position[h, k], kind=KINDS[k], output=outputs[drawn[h, in_hit[k]]], text="A text.",
                twin_position=position[h, in_hit[k]] if KINDS[k] else None,
            )
            for h, hit in enumerate(hits)
            for k in order[h]
        ),
        batch_size=CHUNK,
    )  # fmt: skip
    workers = Worker.objects.bulk_create(
        Worker(platform=campaign.platform, key=f"{campaign.public_id}:worker-{k}") for k in range(n_workers)
    )
    # Those who rate a HIT are never the same worker: pass after pass over the HITs, worker after worker.
    hit_of = np.arange(n_assignments) % n_hits
    worker_of = np.arange(n_assignments) % n_workers
    minutes = rng.gamma(8, 5, n_assignments)
    assignments = Assignment.objects.bulk_create(
        (
            Assignment(
                campaign=campaign, hit=hits[hit_of[k]], worker=workers[worker_of[k]], state="finished",
                n_rated=HIT_SIZE, n_items=HIT_SIZE, started_at=now, leased_until=now,
                seen_at=now + timedelta(minutes=minutes[k]), ended_at=now + timedelta(minutes=minutes[k]),
            )
            for k in range(n_assignments)
        ),
        batch_size=CHUNK,
    )  # fmt: skip
    scores = rate(rng, drawn, in_hit, order, hit_of, worker_of)
    criteria = list(Criterion.objects.filter(campaign=campaign).order_by("pk"))
    _keep(scores, assignments, items, hit_of, criteria)
    return campaign, user


def words(rng: np.random.Generator, mean: int) -> str:
    """Return a text of about so many words."""
    return " ".join(rng.choice(WORDS, 1 + rng.poisson(mean - 1)))


def rate(rng: np.random.Generator, drawn: Any, in_hit: Any, order: Any, hit_of: Any, worker_of: Any) -> Any:
    """Return the scores of every assignment at every position, (n_assignments, 100, 4), whole numbers from 0 to 100."""
    n_outputs, n_workers = drawn.size, worker_of.max() + 1
    quality = np.linspace(-12, 12, N_SYSTEMS)
    of_source, of_output = rng.normal(0, 6, n_outputs // N_SYSTEMS), rng.normal(0, 8, n_outputs)
    truth = np.repeat(of_source, N_SYSTEMS) + of_output + np.tile(quality, n_outputs // N_SYSTEMS)
    liking = rng.normal(0, 4, (n_workers, N_SYSTEMS))
    bias, spread = rng.normal(50, 10, n_workers), rng.uniform(0.6, 1.4, n_workers)
    is_careless = rng.random(n_workers) < CARELESS
    at = np.take_along_axis(drawn[:, in_hit], order, axis=1)[hit_of]  # the output at each position
    kind = KINDS[order][hit_of]
    mean = truth[at] + liking[worker_of[:, None], at % N_SYSTEMS] - 20 * (kind == 1) + 10 * (kind == 3)
    found = mean[..., None] + rng.normal(0, 14, (*at.shape, 1)) + rng.normal(0, 8, (*at.shape, N_CRITERIA))
    found = bias[worker_of][:, None, None] + spread[worker_of][:, None, None] * found
    anywhere = is_careless[worker_of]
    found[anywhere] = rng.uniform(0, 100, found[anywhere].shape)
    return np.clip(np.rint(found), 0, 100).astype(np.int64)


def _keep(scores: Any, assignments: Any, items: Any, hit_of: Any, criteria: Any) -> None:
    """Store scores as ratings, each assignment's nine seconds apart."""
    from annotation.models import Response

    def ratings(first: int, last: int) -> Any:
        for k in range(first, last):
            each, of_hit = assignments[k], items[hit_of[k] * HIT_SIZE : (hit_of[k] + 1) * HIT_SIZE]
            for place, (item, of_item) in enumerate(zip(of_hit, scores[k].tolist(), strict=True)):
                at = each.started_at + timedelta(seconds=9 * (place + 1))
                for criterion, score in zip(criteria, of_item, strict=True):
                    yield Response(
                        assignment=each, item=item, criterion=criterion, value=score, score=score, rated_at=at
                    )

    step = CHUNK // (HIT_SIZE * N_CRITERIA)
    for first in range(0, len(assignments), step):
        Response.objects.bulk_create(ratings(first, min(first + step, len(assignments))))
