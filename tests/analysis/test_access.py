"""What holds for every page of ratings files and runs: before anything is sent, unfinished, few queries."""

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun

FILE_PAGES = ["ratings_file", "columns", "protocol"]
RUN_PAGES = ["run", "pairs", "workers", "downloads", "workers_csv", "run_file"]
FORMS = ["upload", "columns", "protocol", "run", "workers"]


def url_of(name: str, run: AnalysisRun) -> str:
    if name in ("ratings", "upload"):
        return reverse(f"analysis:{name}")
    if name in FILE_PAGES:
        return reverse(f"analysis:{name}", args=[run.ratings_file_id])
    return reverse(f"analysis:{name}", args=[run.pk, "report.json"] if name == "run_file" else [run.pk])


ALL_PAGES = ["ratings", "upload", *FILE_PAGES, *RUN_PAGES]


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_was_not_sent_shows_no_error(owner_client: Client, done: AnalysisRun, name: str) -> None:
    text = owner_client.get(url_of(name, done)).text
    assert "aria-invalid" not in text
    assert 'role="alert"' not in text.replace('data-drop-error role="alert" hidden', "")


@pytest.mark.parametrize("name", ["pairs", "workers", "downloads", "compare", "workers_csv", "run_file"])
def test_pages_of_an_unfinished_run_wait_and_its_files_are_not_found(owner, owner_client, trees, name: str) -> None:
    from analysis.methods.settings import from_protocol
    from analysis.web.services.runs import start_run

    run = start_run(ratings_file=trees, user=owner, settings=from_protocol("mrc-adequacy"))
    response = owner_client.get(url_of(name, run))
    if name in ("workers_csv", "run_file"):
        assert response.status_code == 404
    else:
        assert response.templates[0].name == "analysis/waiting.html" and "data-job-progress" in response.text


QUERIES = {
    "ratings": 4,
    "upload": 2,
    "ratings_file": 5,
    "columns": 3,
    "protocol": 3,
    "run": 5,
    "pairs": 4,
    "workers": 4,
    "downloads": 4,
    "workers_csv": 3,
    "run_file": 3,
}


@pytest.mark.parametrize("n_runs", [1, 50])
@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_page_asks_the_database_the_same_few_times(
    owner_client: Client, done: AnalysisRun, django_assert_num_queries, name: str, n_runs: int
) -> None:
    for _ in range(1, n_runs):
        AnalysisRun.objects.create(
            ratings_file=done.ratings_file, created_by=done.created_by, settings=done.settings, mapping=done.mapping,
            parent=done, report=done.report, finished_at=done.finished_at, created_at=done.created_at,
        )  # fmt: skip
    url = url_of(name, done)
    with django_assert_num_queries(QUERIES[name]) as queries:
        response = owner_client.get(url)
        response.close()
    assert response.status_code == 200
    if name in ("ratings", "ratings_file"):
        assert not any('"report"' in query["sql"] for query in queries.captured_queries)
