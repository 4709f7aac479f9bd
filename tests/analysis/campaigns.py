"""Rated campaigns whose results are known to be computed."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from analysis.web.queries.campaigns import judging_settings_of
from analysis.web.queries.workers_now import list_live_workers
from analysis.web.services.campaigns import analyse_campaign
from annotation.raters.lists import RaterEntry
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.analysis.conftest import finish
from tests.annotation.cast import build, launch, rate
from tests.campaigns.cast import make_campaign

N_WORKERS = 3


def rated_campaign(
    owner: User,
    *,
    n_hits: int = 4,
    n_rated: int | None = None,
    n_workers: int = N_WORKERS,
    n_careless: int = 1,
    negative: str = "",
    **more,
) -> Campaign:
    """Return a running campaign of the owner's; all HITs, or the first `n_rated`, are finished. Its last worker clicks
    at random. `negative` names a criterion; `more` are fields of Campaign.
    """
    campaign = make_campaign(owner, "qg", name="Questions")
    for field, value in more.items():
        setattr(campaign, field, value)
    campaign.save()
    campaign.criteria.filter(name=negative).update(is_negative=True)
    hits = build(campaign, n_hits)
    launch(campaign)
    put_aside = hits[n_rated:] if n_rated is not None else []
    set_places(put_aside, 0)
    rate(campaign, n_workers, np.random.default_rng(11), n_careless=n_careless)
    set_places(put_aside, 1)
    return campaign


def set_places(hits, n_places: int) -> None:
    for hit in hits:
        hit.n_places_left = n_places
        hit.save(update_fields=["n_places_left"])


def rate_rest(campaign: Campaign, n_workers: int = N_WORKERS) -> None:
    """Have the HITs finished that are still open."""
    rate(campaign, n_workers, np.random.default_rng(12))


def names_in(campaign: Campaign) -> list[str]:
    workers = {each.worker.name for each in campaign.assignments.select_related("worker")}
    return sorted(workers)


def invite(campaign: Campaign, names: list[str]) -> None:
    """Give all but the last one of these workers a pool and years."""
    raters = [
        RaterEntry(name, attributes={"pool": "lab" if k % 2 else "crowd", "years": str(k)})
        for k, name in enumerate(names[:-1])
    ]
    invite_raters(campaign=campaign, raters=raters)


def snapshot(run: AnalysisRun) -> list[str]:
    """Return the lines of the file that a run has read."""
    with run.ratings_file.file.open() as file:
        return file.read().decode().splitlines()


def assert_attributes_are_at_the_end(client: Client, campaign: Campaign, name: str) -> AnalysisRun:
    """Check that attributes of raters come last in a campaign's file and change no result; return the run with them."""
    before = analysed(campaign)
    invite(campaign, names_in(campaign))
    after = analysed(campaign)
    assert snapshot(after)[0] == snapshot(before)[0] + ",pool,years"
    assert after.report["summary"] == before.report["summary"]
    header = client.get(reverse("monitoring:export_file", args=[campaign.public_id, name])).getvalue().decode()
    assert header.splitlines()[0].replace("\t", ",").endswith(",pool,years")
    return after


def assert_listed_as_in(run: AnalysisRun, campaign: Campaign) -> None:
    """Check that the list of a running campaign's workers says of each what the report says."""
    live = list_live_workers(campaign, judging_settings_of(campaign), timezone.now())
    expected = {row["worker"]: (row["verdict"], row["p"], row["n_compared"]) for row in run.report["worker_table"]}
    found = {each.name: (each.conduct.verdict, each.conduct.p, each.conduct.n_compared) for each in live}
    assert found == expected and len(found) > 1


def analysed(campaign: Campaign, user: User | None = None) -> AnalysisRun:
    """Return the finished run of the campaign's ratings so far."""
    run = analyse_campaign(campaign=campaign, user=user)
    return finish(AnalysisRun.objects.select_related("ratings_file").get(pk=run.pk))


def assert_download_has_what_was_analysed(client: Client, run: AnalysisRun, name: str) -> None:
    """Check that an owner gets the bytes that a run read, and everybody a file that `analyse` reads likewise."""
    campaign = run.ratings_file.campaign
    address = reverse("monitoring:export_file", args=[campaign.public_id, name])
    page = client.get(reverse("monitoring:export", args=[campaign.public_id])).text
    assert f'href="{address}"' in page and f'href="{address}?ids=real"' in page
    with run.ratings_file.file.open() as snapshot:
        assert client.get(address, {"ids": "real"}).getvalue() == snapshot.read()
    sent = client.get(address)
    assert sent.streaming
    with TemporaryDirectory() as folder:
        path, out = Path(folder, name), Path(folder, "out")
        path.write_bytes(sent.getvalue())
        assert b"sim" not in path.read_bytes(), "workers are keyed hashes"
        call_command("analyse", path, protocol=campaign.protocol, out=out, no_figures=True)
        report = json.loads((out / "report.json").read_text())["summary"]
    expected = run.report["summary"]
    assert [row["system"] for row in report["systems"]] == [row["system"] for row in expected["systems"]]
    for key in ("score", "rank", "n"):
        found, known = (np.array([row[key] for row in each["systems"]], float) for each in (report, expected))
        np.testing.assert_allclose(found, known, rtol=1e-9, err_msg=key)
    assert report.get("workers") == expected.get("workers")
