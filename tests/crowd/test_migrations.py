"""Rows of an installation that was made before a rename are kept."""

import pytest
from django.utils import timezone

from annotation.models import Worker
from campaigns.models import Campaign
from crowd.models import Posting, ReceivedNotification, Submission, Wave
from evalsite.accounts.models import User
from tests.crowd.campaigns import SITE, make_crowd_campaign
from tests.databases import migrated_back

pytestmark = pytest.mark.django_db(transaction=True)
_BEFORE = [("crowd", "0003_notifications"), ("campaigns", "0006_study")]


def test_rows_survive_their_new_names(owner: User) -> None:
    campaign = make_crowd_campaign(owner, "mturk", n_hits=1, account_data={"hit_type": "H1"})
    wave = Wave.objects.create(campaign=campaign, number=1, n_hits=1, n_places=2, max_cost=2, site_url=SITE)
    posting = Posting.objects.create(campaign=campaign, wave=wave, n_places=2)
    worker, at = Worker.objects.create(platform="mturk", key="A1WORKER"), timezone.now()
    with migrated_back(*_BEFORE) as old:
        assert old.get_model("campaigns", "Campaign").objects.get().platform_memory == {"hit_type": "H1"}
        old.get_model("crowd", "Posting").objects.filter(pk=posting.pk).update(look_at=at, seen_at=at)
        fields = {"campaign_id": posting.campaign_id, "posting_id": posting.pk, "worker_id": worker.pk, "seen_at": at}
        old.get_model("crowd", "Submission").objects.create(
            platform_id="S1", state="submitted", trouble="wrong-code", told={"Answer": "x"}, dismissed_at=at, **fields
        )
        old.get_model("crowd", "SeenNotification").objects.create(campaign_id=campaign.pk, fingerprint="f1", at=at)

    assert Campaign.objects.get().account_data == {"hit_type": "H1"}
    posting = Posting.objects.get()
    assert (posting.polled_at, posting.poll_at) == (at, at)
    submission = Submission.objects.get()
    assert (submission.discrepancy, submission.payload) == ("wrong-code", {"Answer": "x"})
    assert (submission.last_seen_at, submission.dismissed_at) == (at, at)
    assert ReceivedNotification.objects.get(campaign=campaign, fingerprint="f1").at == at
