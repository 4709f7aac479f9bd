"""What is there, and who may see and change it, when."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from campaigns.models import Campaign, Upload
from campaigns.services.deletion import delete_campaign
from campaigns.services.imports import execute_import
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import KEPT_FOR, forget_expired
from tests.campaigns.cast import add_member, add_outputs, make_campaign
from tests.campaigns.data.files import (
    LONG,
    TEXTS,
    WIDE,
    bring_in,
    finish,
    post_import,
    send,
    texts_of,
    upload,
    url,
)

# --- What is there


def test_an_empty_campaign_says_what_to_do_next(owner_client: Client, qg: Campaign) -> None:
    page = owner_client.get(url("data", qg)).text
    assert f'href="{url("upload", qg)}"' in page
    assert url("example", qg, "wide") in page


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("protocol", ["qg", "mrc-adequacy", "mrc-fluency", "da-translation", "da-summary", "custom"])
def test_the_examples_can_be_imported_as_they_are(owner_client, owner, protocol: str, shape: str) -> None:
    campaign = make_campaign(owner, protocol)
    example = owner_client.get(url("example", campaign, shape))
    assert "attachment" in example["Content-Disposition"]
    done = bring_in(owner_client, campaign, example.content)
    assert (done.summary["n_sources"], done.summary["n_systems"], done.summary["n_outputs"]) == (2, 3, 6)
    assert done.summary["notices"] == []


def test_there_is_no_other_example(owner_client: Client, qg: Campaign) -> None:
    assert owner_client.get(url("example", qg, "tall")).status_code == 404


def test_sources_are_shown_with_fields_outputs_and_highlights(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    page = owner_client.get(url("data", qg)).text
    assert "<mark>blue</mark>" in page
    assert "Which colour has the sky?" in page


def test_the_first_items_are_shown_before_they_are_imported(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "da-translation")
    rows = ["id,source,system,output,remark", "1,Guten Tag.,a,Good day.,fine", "1,Guten Tag.,b,Hello <b>there</b>.,"]
    found = upload(owner_client, campaign, "\n".join([*rows, "2,Ja.,a,Yes.,"]))
    page = owner_client.get(url("columns", campaign, found.pk))
    labels = [label for label, _ in page.context["items"][0]]
    assert [[text for _, text in item] for item in page.context["items"]] == [
        ["Guten Tag.", "Good day."],
        ["Guten Tag.", "Hello <b>there</b>."],
        ["Ja.", "Yes."],
    ]
    assert labels == ["Source text", "Translation"]
    assert "Hello &lt;b&gt;there&lt;/b&gt;." in page.text
    assert page.text.index("Hello") < page.text.index(">Import</button>")


def test_a_page_of_data_needs_as_many_queries_at_any_size(owner_client, qg, django_assert_max_num_queries) -> None:
    add_outputs(qg, n_sources=3, systems=["a"])
    with django_assert_max_num_queries(13) as few:
        owner_client.get(url("data", qg))
    add_outputs(qg, n_sources=40, systems=[f"s{n}" for n in range(10)])
    with django_assert_max_num_queries(13) as many:
        page = owner_client.get(url("data", qg) + "?page=2")
    assert len(few) == len(many)
    assert page.context["page_obj"].number == 2


def test_live_protocols_have_nothing_to_upload(owner_client: Client, owner) -> None:
    campaign = make_campaign(owner, "dialogue-free")
    assert url("chatbots", campaign) in owner_client.get(url("data", campaign)).text
    assert send(owner_client, campaign, LONG).status_code == 422


# --- Who may, and when


def test_a_viewer_sees_and_uploads_nothing(colleague_client, colleague, owner_client: Client, qg: Campaign) -> None:
    add_member(qg, colleague)
    found = upload(owner_client, qg, LONG)
    page = colleague_client.get(url("data", qg))
    assert page.status_code == 200
    assert url("upload", qg) not in page.text
    assert colleague_client.get(url("upload", qg)).status_code == 403
    assert colleague_client.post(url("columns", qg, found.pk), {"import": "1"}).status_code == 403
    assert '<form method="post">' not in colleague_client.get(url("columns", qg, found.pk)).text
    assert send(colleague_client, qg, LONG).status_code == 403


def test_an_editor_uploads(colleague_client: Client, colleague, qg: Campaign) -> None:
    add_member(qg, colleague, "editor")
    assert bring_in(colleague_client, qg, LONG).uploaded_by == colleague
    assert texts_of(qg) == TEXTS


def test_after_the_launch_all_is_frozen(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    waiting = upload(owner_client, qg, WIDE)
    Campaign.objects.filter(pk=qg.pk).update(launched_at=timezone.now(), status=Campaign.Status.RUNNING)

    assert url("upload", qg) not in owner_client.get(url("data", qg)).text
    assert send(owner_client, qg, LONG).status_code == 422
    assert post_import(owner_client, waiting).status_code == 422
    assert owner_client.get(url("columns", qg, waiting.pk)).status_code == 200


def test_a_launch_while_the_job_waits_keeps_the_data(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    found = upload(owner_client, qg, "source_id,passage,system,output\np8,Text,fir,Out\n")
    post_import(owner_client, found)
    Campaign.objects.filter(pk=qg.pk).update(launched_at=timezone.now(), status=Campaign.Status.RUNNING)

    done = finish(found)

    assert done.job.error_code == "frozen"
    assert texts_of(qg) == TEXTS


def test_a_change_while_a_file_is_read_is_noticed(owner_client: Client, qg: Campaign) -> None:
    bring_in(owner_client, qg, LONG)
    found = upload(owner_client, qg, "source_id,system,output\np1,birch,Sky?\n")
    post_import(owner_client, found, mode="add")

    @contextmanager
    def saving_after_somebody_else() -> Iterator[None]:
        add_outputs(qg, n_sources=1, systems=["birch"])
        with transaction.atomic():
            yield

    with pytest.raises(DomainError) as caught:
        execute_import(
            upload=Upload.objects.get(pk=found.pk),
            mode="add",
            on_progress=lambda *_: None,
            saving=saving_after_somebody_else,
        )
    assert caught.value.code == "changing"
    assert ("p1", "birch") not in texts_of(qg)


def test_every_member_may_follow_an_import(
    colleague_client: Client, stranger_client: Client, colleague, owner_client: Client, qg: Campaign
) -> None:
    add_member(qg, colleague)
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)

    page = colleague_client.get(url("columns", qg, found.pk))
    followed = page.context["job_state"]["url"]

    assert f'data-url="{followed}"' in page.text
    assert colleague_client.get(followed).json()["status"] == "queued"
    assert stranger_client.get(followed).status_code == 404
    finish(found)
    assert colleague_client.get(followed).json()["finished"]


def test_a_failed_import_offers_nobody_the_retry_of_another_s_job(
    colleague_client: Client, colleague, owner_client: Client, qg: Campaign
) -> None:
    add_member(qg, colleague, "editor")
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)
    Job.objects.update(status="failed", finished_at=timezone.now(), error_code="lost", error_message="The worker died.")

    page = colleague_client.get(url("columns", qg, found.pk))

    assert "The worker died." in page.text
    assert "/retry/" not in page.text
    assert post_import(colleague_client, found).status_code == 302
    assert finish(found).imported_at


def test_a_campaign_that_is_deleted_while_a_file_is_read_is_no_failure(owner_client: Client, qg: Campaign) -> None:
    found = upload(owner_client, qg, LONG)
    post_import(owner_client, found)
    found.refresh_from_db()

    class Deleting(JobContext):
        def progress(self, done: int, total: int, stage: str = "") -> None:
            if Campaign.objects.exists():
                delete_campaign(campaign=qg)

    get_handler("campaigns.import")(Deleting(), **found.job.args)
    assert not Campaign.objects.exists()


def test_an_uploaded_file_is_deleted_and_what_was_imported_stays(
    owner_client: Client, qg: Campaign, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    found = bring_in(owner_client, qg, LONG)
    outputs, path = texts_of(qg), Path(found.file.path)
    assert path.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert owner_client.post(url("upload_delete", qg, found.pk)).status_code == 302
        forget_expired(timezone.now() + KEPT_FOR)
    assert not path.exists()
    assert not Upload.objects.exists()
    assert texts_of(qg) == outputs
    kept = upload(owner_client, qg, LONG)
    Campaign.objects.update(launched_at=timezone.now(), status="running")
    assert "message-error" in owner_client.post(url("upload_delete", qg, kept.pk), follow=True).text
    assert Upload.objects.get() == kept
