"""The ranking of a finished run, and runs made from it by other settings."""

import re
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import custom_settings
from analysis.models import AnalysisRun
from analysis.web.services.runs import change_run
from tests.analysis.conftest import finish, ratings_csv
from tests.databases import on_both


def page_of(run: AnalysisRun, query: str = "") -> str:
    return reverse("analysis:run", args=[run.pk]) + query


def settings_of(**changes: str) -> dict[str, str]:
    return {"worker_test": "paired-wilcoxon", "alpha": "0.05", "unit": "rating"} | changes


def changed_settings(text: str) -> list[str]:
    """Return what a page says of settings that differ from those of another run."""
    found = re.findall(r"<div>([^:<]+: <bdi>[^<]*</bdi> → .*?</bdi>(?:</strong>)?)</div>", text)
    return [re.sub(r"<[^>]+>", "", change) for change in found]


def test_the_ranking_shows_z_interval_and_raw_of_each_system(owner_client: Client, done: AnalysisRun) -> None:
    text = owner_client.get(page_of(done)).text

    table = text[text.index("Mean z per system") :].split("</table>")[0]
    rows = [re.sub(r"<[^>]+>", "\n", row).split("\n") for row in table.split("<tr")[2:]]
    rows = [[cell.strip() for cell in row[1:] if cell.strip()] for row in rows]
    assert [row[1] for row in rows] == ["alder", "birch", "cedar"]
    for rank, (row, system) in enumerate(zip(rows, done.report["summary"]["systems"], strict=True), start=1):
        low, high = done.report["intervals"][system["system"]]
        z = [f"{value:.3f}".replace("-", "−") for value in (system["z"], low, high)]
        assert row == [str(rank), system["system"], str(system["n"]), z[0], f"{z[1]} to {z[2]}", f"{system['raw']:.2f}"]


def test_a_rule_stands_under_each_cluster_but_the_last(owner_client: Client, done: AnalysisRun) -> None:
    clusters = done.report["summary"]["clusters"]
    assert len(clusters) > 1
    assert owner_client.get(page_of(done)).text.count("cluster-end") == len(clusters) - 1


def test_several_criteria_have_z_and_raw_each(owner_client: Client, done_with_two_criteria: AnalysisRun) -> None:
    page = owner_client.get(page_of(done_with_two_criteria))
    assert page.context["ranking"].criteria == ["clear", "wordy"]
    raw = page.text[page.text.index('<h2 id="raw"') :].split("</table>")[0]
    ranked = [row["system"] for row in done_with_two_criteria.report["summary"]["systems"]]
    assert re.findall(
        r'<td class="num" data-label="Rank">(\d)</td><th scope="row" class="cell-words"><bdi>(\w+)<', raw
    ) == [(str(rank), name) for rank, name in enumerate(ranked, start=1)]


def test_one_criterion_is_not_shown_twice(owner_client: Client, done: AnalysisRun) -> None:
    page = owner_client.get(page_of(done))
    assert page.context["ranking"].criteria == []
    assert "Raw means" not in page.text


# --- Changing


def test_systems_may_be_compared_by_another_procedure(owner_client: Client, done: AnalysisRun) -> None:
    owner_client.post(page_of(done), settings_of(comparison="crossed"))
    run = AnalysisRun.objects.get(parent=done)
    assert run.settings == done.settings | {"comparison": "crossed"}
    page = owner_client.get(page_of(finish(run)))
    assert changed_settings(page.text) == ["Comparison of systems: recommended → crossed random effects"]
    pairs = owner_client.get(reverse("analysis:pairs", args=[run.pk])).text
    assert '<h2 id="recommended">Comparison of systems: crossed random effects' in pairs


@on_both
def test_another_alpha_makes_a_run_of_its_own_that_is_compared(owner_client: Client, done: AnalysisRun) -> None:
    response = owner_client.post(page_of(done), settings_of(alpha="0.999"))

    run = AnalysisRun.objects.get(parent=done)
    assert response["Location"] == page_of(run)
    assert run.settings == done.settings | {"worker_test": {"preset": "paired-wilcoxon", "alpha": 0.999}}
    page = owner_client.get(page_of(finish(run)))
    assert changed_settings(page.text) == ["α: 0.05 → 0.999"]
    assert page.context["changes"].workers_gained == ["w-careless"]
    assert page.context["changes"].workers_lost == []
    done.refresh_from_db()
    assert done.settings["worker_test"]["alpha"] == 0.05


@on_both
def test_sent_again_the_same_change_is_the_same_run(owner_client: Client, done: AnalysisRun) -> None:
    first = owner_client.post(page_of(done), settings_of(alpha="0.2"))
    finish(AnalysisRun.objects.get(parent=done))
    assert owner_client.post(page_of(done), settings_of(alpha="0.2"))["Location"] == first["Location"]


@on_both
def test_a_change_keeps_the_columns_of_its_run(owner_client: Client, done: AnalysisRun) -> None:
    file = done.ratings_file
    file.mapping = {"worker": "worker", "system": "system", "score": "score"}
    file.save()
    owner_client.post(page_of(done), settings_of(alpha="0.2"))
    assert AnalysisRun.objects.get(parent=done).mapping == done.mapping


@pytest.mark.parametrize(
    "sent",
    [settings_of(), settings_of(alpha="2"), settings_of(alpha=""), settings_of(worker_test="coin-toss"), {}],
    ids=["nothing changed", "alpha of 2", "no alpha", "no such test", "nothing sent"],
)
def test_a_change_that_cannot_be_is_refused_on_the_spot(
    owner_client: Client, done: AnalysisRun, sent: dict[str, str]
) -> None:
    response = owner_client.post(page_of(done), sent)

    assert response.status_code == 422
    assert response.context["form"].errors
    assert "Ranking" in response.text
    assert AnalysisRun.objects.count() == 1


# --- Comparing


@pytest.fixture
def stricter(owner, done: AnalysisRun) -> AnalysisRun:
    return finish(change_run(run=done, user=owner, alpha=0.0001))


def test_without_workers_who_count_nothing_has_a_score(owner_client: Client, stricter: AnalysisRun) -> None:
    page = owner_client.get(page_of(stricter))

    assert "No worker passed" in page.text
    assert {(row.rank, row.z) for row in page.context["ranking"].rows} == {(None, None)}
    assert page.text.count('">–</td>') >= 3
    assert "cluster-end" not in page.text
    assert page.context["changes"].pairs_lost
    heat = owner_client.get(reverse("analysis:pairs", args=[stricter.pk]))
    assert "Nothing to compare" in heat.text


@on_both
def test_any_other_run_of_the_file_can_be_compared_with(owner_client: Client, done, stricter: AnalysisRun) -> None:
    page = owner_client.get(page_of(done, f"?against={stricter.pk}"))
    assert page.context["before"] == stricter
    assert len(page.context["changes"].workers_gained) == 4
    assert page_of(stricter) in page.text


def test_a_comparison_can_be_left_out(owner_client: Client, stricter: AnalysisRun) -> None:
    assert owner_client.get(page_of(stricter, "?against=none")).context["changes"] is None


@on_both
def test_an_older_run_names_the_newest(owner_client: Client, done: AnalysisRun, stricter: AnalysisRun) -> None:
    assert owner_client.get(page_of(done)).context["newest"] == stricter
    assert owner_client.get(page_of(stricter)).context["newest"] is None


def test_what_cannot_be_compared_is_not_found(
    owner_client: Client, done: AnalysisRun, done_with_two_criteria: AnalysisRun
) -> None:
    for against in (str(done_with_two_criteria.pk), "x", "7f2e9c52-0000-4000-8000-000000000000"):
        assert owner_client.get(page_of(done, f"?against={against}")).status_code == 404


def test_a_strangers_run_is_not_compared_with(stranger, owner_client: Client, done, stricter: AnalysisRun) -> None:
    stricter.ratings_file = type(done.ratings_file).objects.create(owner=stranger, title="theirs", name="x", size=0)
    stricter.save()
    assert owner_client.get(page_of(done, f"?against={stricter.pk}")).status_code == 404


@on_both
def test_the_list_of_runs_says_what_each_changed(owner_client: Client, done, stricter: AnalysisRun) -> None:
    page = owner_client.get(reverse("analysis:ratings_file", args=[done.ratings_file_id]))
    assert [run.state for run in page.context["runs"]] == ["ready", "ready"]
    newest, first = page.text.split("<tr>")[-2:]
    assert (changed_settings(newest), changed_settings(first)) == (["α: 0.05 → 0.0001"], [])


# --- Results of earlier versions


def as_of_before(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report without what the first version did not keep."""
    report = deepcopy(report)  # tests share it
    summary = {name: report["summary"][name] for name in report["summary"].keys() - {"n_counts", "references", "scale"}}
    for rows, new in (
        (summary["systems"], ("n_outputs", "n_ratings")),
        (report["worker_table"], ("reference_mean", "reference_distance")),
    ):
        for row in rows:
            for name in new:
                row.pop(name)
    settings = {name: report["settings"][name] for name in report["settings"].keys() - {"n_counts", "scale"}}
    return {**report, "summary": summary, "settings": settings}


@pytest.fixture
def old(done_with_two_criteria: AnalysisRun) -> AnalysisRun:
    """A run that an earlier version finished."""
    run = done_with_two_criteria
    run.report = as_of_before(run.report)
    run.settings = run.report["settings"]
    run.save()
    return run


@pytest.mark.parametrize("page", ["run", "pairs", "workers", "downloads", "workers_csv"])
def test_results_of_an_earlier_version_are_shown(owner_client: Client, old: AnalysisRun, page: str) -> None:
    assert owner_client.get(reverse(f"analysis:{page}", args=[old.pk])).status_code == 200
    assert owner_client.get(reverse("analysis:ratings_file", args=[old.ratings_file_id])).status_code == 200


@on_both
def test_ratings_of_an_earlier_version_are_analysed_again(owner_client: Client, old: AnalysisRun) -> None:
    assert owner_client.post(page_of(old), settings_of()).status_code == 422, "nothing has changed"
    owner_client.post(page_of(old), settings_of(alpha="0.2"))
    run = finish(AnalysisRun.objects.get(parent=old))
    page = owner_client.get(page_of(run))
    assert changed_settings(page.text) == ["α: 0.05 → 0.2"]
    assert [row["n_ratings"] for row in run.report["summary"]["systems"]] == [
        row["n"] * 2 for row in run.report["summary"]["systems"]
    ]


# --- Names that are not what they seem


NAMES = ("<b>x</b>", "=cmd()", r"$\frac{$", "مترجم", "a" * 150)


@pytest.mark.parametrize("page", ["run", "pairs", "workers", "downloads"])
def test_names_are_shown_as_text(owner_client: Client, upload, start, page: str) -> None:
    file = upload(ratings_csv(systems=NAMES, criteria=("<i>y</i>", "z/..")), title="<u>t</u>")
    run = start(file, custom_settings(["<i>y</i>", "z/.."]))

    text = owner_client.get(reverse(f"analysis:{page}", args=[run.pk])).text

    for tag in ("<b>x", "<i>y", "<u>t"):
        assert tag not in text
    if page in ("run", "pairs"):
        assert "&lt;b&gt;x&lt;/b&gt;" in text
        assert "مترجم" in text
