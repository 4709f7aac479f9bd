"""Choosing or editing the protocol, starting the analysis, and what comes of a file that cannot be used."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import custom_settings, from_protocol
from analysis.models import AnalysisRun, RatingsFile
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from tests.analysis.conftest import CAREFUL, finish, ratings_csv


def protocol_of(file: RatingsFile, query: str = "") -> str:
    return reverse("analysis:protocol", args=[file.pk]) + query


def filled_in(client: Client, url: str, **changes: Any) -> dict[str, Any]:
    """Return what the browser would send for the page as it is, with some fields changed."""
    context = client.get(url).context
    sent: dict[str, Any] = {}
    for form in [context["form"], context["criteria"].management_form, *context["criteria"].forms]:
        sent |= {form[name].html_name: form[name].value() for name in form.fields}
    sent |= changes
    return {name: value for name, value in sent.items() if value not in (None, False)}


def test_the_protocol_is_guessed_from_the_criteria_of_the_file(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=["fun", "topic"]))
    page = owner_client.get(protocol_of(file))
    assert page.context["chosen"] == "dialogue-free"
    assert page.context["found"] == ["fun", "topic"]


def test_criteria_of_no_protocol_are_taken_from_the_file(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=["clear", "wordy"]))
    page = owner_client.get(protocol_of(file))
    assert page.context["chosen"] == "custom"
    assert [form["name"].value() for form in page.context["criteria"]] == ["clear", "wordy", None, None]
    assert "No protocol has the criteria of this file" in page.text
    assert "clear, wordy" in page.text


@pytest.mark.parametrize(
    ("criteria", "chosen", "question"),
    [
        (["fluency"], "mrc-fluency", None),  # another protocol has it beside others
        (["adequacy"], "mrc-adequacy", "several protocols have this criterion"),
        (["informativeness", "fluency"], "da-summary", None),
        (["informativeness"], "da-summary", "Direct Assessment, summary has"),
        (["understandability", "style"], "custom", "No protocol has the criteria of this file"),
    ],
)
def test_no_protocol_is_taken_without_a_word_where_the_file_leaves_it_open(
    owner_client: Client, upload, criteria: list[str], chosen: str, question: str | None
) -> None:
    page = owner_client.get(protocol_of(upload(ratings_csv(criteria=criteria))))

    assert page.context["chosen"] == chosen
    assert ("Which protocol was it?" in page.text) == bool(question)
    assert (question or "") in page.text


def test_two_columns_of_unknown_criteria_are_analysed_as_they_are(owner_client: Client, upload) -> None:
    rows = [f"w{k % 9},q{k},{('alder', 'birch')[k % 2]},{40 + k % 31},{80 - k % 47}" for k in range(90)]
    file = upload("\n".join(["worker,source,system,clear,wordy", *rows]).encode())
    url = protocol_of(file)

    owner_client.post(url, filled_in(owner_client, url))

    settings = finish(AnalysisRun.objects.get()).settings
    assert settings["protocol"] == "custom"
    assert [criterion["name"] for criterion in settings["criteria"]] == ["clear", "wordy"]


def test_ratings_of_one_column_are_of_a_criterion_of_one_s_own_until_a_protocol_is_chosen(
    owner_client: Client, upload
) -> None:
    file = upload(b"worker,system,score\nw1,alder,50\nw2,birch,40\n")
    page = owner_client.get(protocol_of(file))

    assert page.context["chosen"] == "custom"
    assert page.context["criteria"][0]["name"].value() == "score"
    assert "The file does not say what was rated" in page.text
    assert "Which protocol was it?" not in owner_client.get(protocol_of(file, "?protocol=mrc-fluency")).text


def test_a_column_of_numbers_beside_a_known_criterion_is_asked_about(owner_client: Client, upload) -> None:
    file = upload(b"worker,system,fluency,style,worktime\nw1,alder,50,71,quick\nw2,birch,40,82,slow\n")
    page = owner_client.get(reverse("analysis:columns", args=[file.pk]))

    assert page.context["unclaimed"] == ["style"]
    assert "tick it under" in page.text


def test_analysing_starts_a_run_by_the_protocol(owner_client: Client, trees: RatingsFile) -> None:
    url = protocol_of(trees)

    response = owner_client.post(url, filled_in(owner_client, url))

    run = AnalysisRun.objects.get()
    assert response["Location"] == reverse("analysis:run", args=[run.pk])
    assert run.settings == from_protocol("mrc-adequacy").to_json()
    assert (run.mapping, run.parent, run.job.status) == (trees.mapping, None, "queued")


def without_degraded(content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if b",degraded," not in line)


@pytest.mark.parametrize("with_kinds", [True, False], ids=["kinds", "no column of kinds"])
def test_of_a_file_without_degraded_items_no_worker_test_is_proposed(
    owner_client: Client, upload, with_kinds: bool
) -> None:
    file = upload(without_degraded(ratings_csv()) if with_kinds else b"worker,system,score\nw1,alder,50\nw2,birch,40\n")
    url = protocol_of(file)
    page = owner_client.get(url)

    assert page.context["form"]["worker_test"].value() == "none"
    assert "no worker can pass a worker test" in page.text
    owner_client.post(url, filled_in(owner_client, url))

    run = finish(AnalysisRun.objects.get())
    results = owner_client.get(reverse("analysis:run", args=[run.pk]))
    assert "No worker test was applied" in results.text
    assert all(row.z is not None for row in results.context["ranking"].rows)
    workers = owner_client.get(reverse("analysis:workers", args=[run.pk]))
    assert "not tested, counts" in workers.text and "untested" not in workers.text


def test_a_degraded_item_is_found_wherever_it_stands(owner_client: Client, upload) -> None:
    ordinary = [f"w{k % 9},q{k},alder,ordinary,50" for k in range(1200)]
    file = upload("\n".join(["worker,source,system,kind,score", *ordinary, "w1,q1,alder,degraded,10"]).encode())
    page = owner_client.get(protocol_of(file))
    assert page.context["form"]["worker_test"].value() == "paired-wilcoxon"
    assert "no worker can pass" not in page.text


def test_of_levels_no_scale_is_said_to_be_mapped_and_no_option_is_null(owner_client: Client, upload) -> None:
    rows = [f"w{k},q{source},s{k % 2},{1 + (k + source) % 5}" for k in range(4) for source in range(6)]
    file = upload("\n".join(["worker,source,system,score", *rows]).encode())
    file.scale = [1, 5]
    file.save()
    address = reverse("analysis:protocol", args=[file.pk])
    page = owner_client.get(address, {"protocol": "likert"}).text
    assert "mapped to 0–100" not in page and "null" not in page
    assert "mapped to 0–100" in owner_client.get(address, {"protocol": "mrc-fluency"}).text


def test_a_second_click_starts_no_second_run(owner_client: Client, trees: RatingsFile) -> None:
    url = protocol_of(trees)
    sent = filled_in(owner_client, url)

    first, second = owner_client.post(url, sent), owner_client.post(url, sent)

    assert first["Location"] == second["Location"]
    assert AnalysisRun.objects.count() == Job.objects.count() == 1


def test_an_edited_protocol_is_called_custom(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=["fun", "topic"]))
    url = protocol_of(file, "?protocol=dialogue-free")
    sent = filled_in(owner_client, url, **{"criteria-0-name": "funny", "alpha": "0.1"})

    owner_client.post(url, sent)

    settings = AnalysisRun.objects.get().settings
    assert settings["protocol"] == "custom"
    assert settings["criteria"][0]["name"] == "funny"
    assert settings["worker_test"] == {"preset": "unpaired-ranksum", "alpha": 0.1}


def test_another_alpha_leaves_the_protocol_its_name(owner_client: Client, trees: RatingsFile) -> None:
    url = protocol_of(trees)
    owner_client.post(url, filled_in(owner_client, url, alpha="0.1"))
    assert AnalysisRun.objects.get().settings["protocol"] == "mrc-adequacy"


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": "0"},
        {"alpha": "1"},
        {"alpha": "nan"},
        {"alpha": "small"},
        {"worker_test": "coin-toss"},
        {"unit": "word"},
        {"standardised_kinds": []},
        {"criteria-0-name": ""},
        {"criteria-1-name": "Adequacy"},
        {"criteria-0-is_in_worker_test": ""},
        {"criteria-TOTAL_FORMS": "many"},
    ],
    ids=lambda changes: next(iter(changes.items()))[0] + "=" + str(next(iter(changes.values()))),
)
def test_a_protocol_that_cannot_be_is_refused(
    owner_client: Client, trees: RatingsFile, changes: dict[str, Any]
) -> None:
    url = protocol_of(trees)

    response = owner_client.post(url, filled_in(owner_client, url, **changes))

    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert not AnalysisRun.objects.exists()


@pytest.mark.parametrize("query", ["?protocol=tea-leaves", "?run=none", "?run=7f2e9c52-0000-4000-8000-000000000000"])
def test_an_unknown_protocol_or_run_is_not_found(owner_client: Client, trees: RatingsFile, query: str) -> None:
    assert owner_client.get(protocol_of(trees, query)).status_code == 404


# --- Names of criteria that are longer than names may be

LONG = "The answer is as adequate as the reference " * 3 + "in the eyes of a reader"


def test_a_long_criterion_is_offered_a_shorter_name_and_analysed_under_it(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=[LONG, "clear"]))
    url = protocol_of(file)

    page = owner_client.get(url)

    offered = page.context["criteria"].forms[0]
    assert page.status_code == 200
    assert len(offered["name"].value()) <= 100
    assert offered["statement"].value() == LONG
    assert f"has {len(LONG)} characters" in page.text
    owner_client.post(url, filled_in(owner_client, url, **{"criteria-0-name": "adequate"}))
    run = finish(AnalysisRun.objects.get())
    assert list(run.report["summary"]["systems"][0]["criteria"]) == ["adequate", "clear"]


def test_long_criteria_that_begin_alike_are_offered_different_names(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=[LONG + " A", LONG + " B"]))
    url = protocol_of(file)

    assert owner_client.post(url, filled_in(owner_client, url)).status_code == 302

    first, second = (criterion["name"] for criterion in AnalysisRun.objects.get().settings["criteria"])
    assert first != second


def test_a_column_of_texts_is_no_column_of_criteria(owner_client: Client, upload) -> None:
    file = upload(ratings_csv(criteria=["word " * 101, "clear"]))
    url = protocol_of(file)

    page = owner_client.get(url)

    assert page.status_code == 200
    assert 'role="alert"' in page.text
    assert "has 504 characters" in page.text
    assert f'href="{reverse("analysis:columns", args=[file.pk])}"' in page.text
    assert [form["name"].value() for form in page.context["criteria"]] == ["clear", None, None]


def test_a_file_whose_criteria_are_the_statements_is_known(owner_client: Client, upload) -> None:
    statements = [criterion.statement for criterion in from_protocol("qg").criteria]
    page = owner_client.get(protocol_of(upload(ratings_csv(criteria=statements))))
    assert page.context["chosen"] == "qg"


def test_the_protocol_of_a_run_is_edited_and_keeps_who_is_excluded(
    owner, owner_client: Client, done_with_two_criteria: AnalysisRun
) -> None:
    from analysis.web.services.runs import exclude_worker

    before = finish(exclude_worker(run=done_with_two_criteria, user=owner, worker=CAREFUL, reason="a friend"))
    url = protocol_of(before.ratings_file, f"?run={before.pk}")

    response = owner_client.post(url, filled_in(owner_client, url, **{"criteria-1-is_negative": "on"}))

    run = AnalysisRun.objects.get(parent=before)
    assert response["Location"] == reverse("analysis:run", args=[run.pk])
    assert [criterion["is_negative"] for criterion in run.settings["criteria"]] == [False, True]
    assert run.settings["excluded"] == {CAREFUL: "a friend"}


def test_a_run_of_another_file_is_no_starting_point(owner_client: Client, done: AnalysisRun, upload) -> None:
    other = upload(ratings_csv(n_sources=3))
    assert owner_client.get(protocol_of(other, f"?run={done.pk}")).status_code == 404


# --- Runs on their way


def test_a_run_that_waits_shows_its_progress(owner, owner_client: Client, trees: RatingsFile, start) -> None:
    from analysis.web.services.runs import start_run

    run = start_run(ratings_file=trees, user=owner, settings=from_protocol("mrc-adequacy"))
    url = reverse("analysis:run", args=[run.pk])
    page = owner_client.get(url)
    assert f'data-url="{reverse("analysis:run_job", args=[run.pk])}"' in page.text
    assert owner_client.post(url, {"alpha": "0.1"}).status_code == 409


@pytest.mark.django_db(transaction=True)
def test_a_file_with_faults_keeps_each_fault_once_and_shows_it(owner, owner_client: Client, upload) -> None:
    from analysis.web.services.runs import start_run

    rows = "".join(f"w,sys{k},<b>{k}</b>\n" for k in range(120))
    file = upload(b"worker,system,score\n" + rows.encode())
    run = start_run(ratings_file=file, user=owner, settings=custom_settings(["score"]))
    run_job(run.job_id)

    run.refresh_from_db()
    page = owner_client.get(reverse("analysis:run", args=[run.pk]))
    assert run.report is None
    assert [row[:2] for row in run.problems["rows"]] == [["2, 3, 4, 5, 6 … (120 rows)", "score"]]
    assert page.text.count("&lt;b&gt;") == 1
    assert "<b>" not in page.text
    assert f"?run={run.pk}" in page.text


@pytest.mark.django_db(transaction=True)
def test_a_job_that_fails_says_so_and_can_be_retried(
    owner, owner_client: Client, trees: RatingsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analysis.web.services.runs import start_run

    run = start_run(ratings_file=trees, user=owner, settings=from_protocol("mrc-adequacy"))
    with monkeypatch.context() as patch:
        patch.setattr("analysis.web.tasks.execute_run", None)  # not callable: a fault of the server's own
        run_job(run.job_id)
    url = reverse("analysis:run", args=[run.pk])
    page = owner_client.get(url)
    retry = reverse("jobs:retry", args=[run.job_id])
    assert f'action="{retry}"' in page.text

    assert owner_client.post(retry, {"next": url})["Location"] == url
    run_job(run.job_id)
    assert "Ranking" in owner_client.get(url).text
