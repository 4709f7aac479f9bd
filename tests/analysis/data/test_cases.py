"""Files as people have them, by the command, by the upload page and by the API: the right values of each."""

import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.data.choices import GUESSED
from analysis.data.ratings.loading import load_ratings
from analysis.methods.recognition import recognise
from analysis.methods.settings import AnalysisSettings, load_settings
from analysis.metrics.loading import load_segment_scores
from analysis.models import AnalysisRun, MetricScores, RatingsFile
from analysis.web.services.runs import start_run
from evalsite.accounts.models import User
from evalsite.lib.tables import TableError
from tests.analysis.conftest import finish

UPLOAD = "/analysis/new/"


def analysed(path: Path, **options: Any) -> tuple[dict[str, Any], str]:
    out, err = StringIO(), StringIO()
    call_command("analyse", str(path), stdout=out, stderr=err, format="json", **options)
    return json.loads(out.getvalue()), err.getvalue()


def means_of(summary: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the means of levels that a summary says, by system: of each criterion, and over all of them."""
    rows = summary["systems"]
    return {row["system"]: {**row["criteria"], "mean": row["score"]} for row in rows}


def assert_means(summary: Mapping[str, Any], right: Mapping[str, Mapping[str, float]]) -> None:
    found = means_of(summary)
    assert found.keys() == right.keys()
    for system, means in right.items():
        for name, mean in means.items():
            if len(means) > 2 or name == "mean":  # one criterion without a name has no name here either
                assert round(found[system][name], 4) == mean, (system, name)


LEVELS = (
    *("levels_long.csv", "levels_labels.csv", "levels_numbered_labels.csv", "rater_columns.csv", "missing.csv"),
    *("rater_and_criterion_columns.csv", "system_columns.csv", "nested.jsonl", "nested_by_criterion.json"),
)


@pytest.mark.parametrize("protocol", ["likert", None])
@pytest.mark.parametrize("name", LEVELS)
def test_levels_in_every_shape_have_their_means(cases: Path, expected, name: str, protocol: str | None) -> None:
    found, said = analysed(cases / name, protocol=protocol)
    assert_means(found, expected[name]["means"])
    n_criteria = len(expected[name]["means"]["alpha"]) - 1
    on = f" on {n_criteria} criteria" if n_criteria > 1 else ""
    assert f"4 raters judged 36 outputs of 3 systems{on} with levels 1 to 5" in said
    assert ("analysed by the protocol likert" in said) == (protocol is None)
    n_missing = expected[name].get("n_missing")
    assert (f"{n_missing} answers are missing" in said) == bool(n_missing)


@pytest.mark.parametrize("name", LEVELS)
def test_direct_assessment_reads_the_same_scores_in_every_shape(cases: Path, expected, name: str) -> None:
    right = expected[name]["means"]
    names = [criterion for criterion in right["alpha"] if criterion != "mean"]
    loaded = load_ratings(cases / name, criteria=names, scale=(1, 5))
    means = [np.nanmean(loaded.ratings.scores[loaded.ratings.system == code], axis=0) for code in range(len(right))]
    found = {
        system: dict(zip(names, of_system.round(4).tolist(), strict=True))
        for system, of_system in zip(loaded.systems, means, strict=True)
    }
    assert found == {system: {name: of[name] for name in names} for system, of in right.items()}


def test_a_decimal_comma_is_that_of_the_whole_file(cases: Path, expected) -> None:
    found, said = analysed(cases / "decimal_comma.csv", protocol="custom", worker_test="none")
    assert {row["system"]: round(row["raw"], 4) for row in found["systems"]} == expected["decimal_comma.csv"]["raw"]
    assert "A comma was read as the decimal mark" in said


def test_each_task_has_a_ranking_of_its_own(cases: Path, expected) -> None:
    found, said = analysed(cases / "two_tasks.csv", protocol="custom", worker_test="none")
    raw = {
        task: {row["system"]: round(row["raw"], 4) for row in each["systems"]} for task, each in found["tasks"].items()
    }
    assert raw == expected["two_tasks.csv"]["raw_by_task"]
    assert "answers of 2 tasks" in said
    pooled, said = analysed(cases / "two_tasks.csv", protocol="custom", worker_test="none", pool=True)
    assert "analysed as one" in said and "4 raters judged 72 outputs" in said
    assert {row["n_ratings"] for row in pooled["systems"]} == {48}


@pytest.mark.parametrize("protocol", ["likert", "custom"])
def test_what_stands_twice_is_refused_unless_somebody_says_which_counts(
    cases: Path, expected, tmp_path: Path, protocol: str
) -> None:
    path = cases / "repeated_answers.csv"
    settings = {"protocol": protocol, "worker_test": "none"}
    if protocol == "custom":
        (tmp_path / "own.json").write_text(json.dumps({"criteria": ["adequacy", "fluency"], "scale": [1, 5]}))
        settings["protocol"] = str(tmp_path / "own.json")
    with pytest.raises(CommandError, match=r"another answer|rates the same item") as refused:
        analysed(path, **settings)
    assert "--twice" in str(refused.value)
    for twice in ("first", "last", "mean"):
        _, said = analysed(path, **settings, twice=twice)
        assert f"of which the {twice} counts: {expected['repeated_answers.csv']['n_twice']}" in said
        assert f"count once: {expected['repeated_answers.csv']['n_exact_copies']}" in said


def test_a_file_without_systems_is_of_one(cases: Path, expected) -> None:
    out, err = StringIO(), StringIO()
    call_command("agreement", str(cases / "no_system.csv"), stdout=out, stderr=err, format="json")
    found = json.loads(out.getvalue())["criteria"]
    alpha = {name: each["krippendorff_alpha"] for name, each in found.items()}
    rounded = {name: {level: round(value, 4) for level, value in each.items()} for name, each in alpha.items()}
    assert rounded == expected["no_system.csv"]["alpha"]
    assert "No column says which system" in err.getvalue()


MARKED = ("mqm_viewer_2023.tsv", "appraise_mqm.csv")


@pytest.mark.parametrize("protocol", ["mqm", None])
@pytest.mark.parametrize("name", MARKED)
def test_marked_errors_of_other_tools_have_their_penalties(
    cases: Path, expected, name: str, protocol: str | None
) -> None:
    found, said = analysed(cases / name, protocol=protocol)
    assert {row["system"]: round(row["score"], 4) for row in found["systems"]} == expected[name]["penalty"]
    assert "2 raters judged 30 outputs of 3 systems" in said


@pytest.mark.parametrize("protocol", ["likert", None])
def test_a_file_for_each_annotator_of_potato_is_one_study(cases: Path, expected, protocol: str | None) -> None:
    out = StringIO()
    paths = [str(cases / name) for name in expected["potato/"]["files"]]
    items = cases / expected["potato/"]["items"]
    call_command("analyse", *paths, items=items, protocol=protocol, stdout=out, stderr=StringIO(), format="json")
    found = json.loads(out.getvalue())
    assert {row["system"]: round(row["score"], 4) for row in found["systems"]} == expected["potato/"]["means"]


def test_metrics_may_have_a_column_each(cases: Path, expected) -> None:
    out, err = StringIO(), StringIO()
    paths = [cases / name for name in ("levels_long.csv", "metrics_wide.csv")]
    call_command("metrics", *map(str, paths), stdout=out, stderr=err, format="json")
    assert set(json.loads(out.getvalue())["metrics"]) == {"BLEU", "COMET"}
    scores = load_segment_scores(paths[1], has_metrics=True)
    right = expected["metrics_wide.csv"]["means"]
    means = {name: dict(zip(scores.systems, scores.system_scores(name, scores.systems), strict=True)) for name in right}
    assert {name: {system: round(mean, 4) for system, mean in of.items()} for name, of in means.items()} == right


# --- The same by the page and by the API


Upload = Callable[..., list[RatingsFile]]


@pytest.fixture(params=["page", "API"])
def upload(request: pytest.FixtureRequest, owner: User, owner_client: Client) -> Upload:
    """Return what uploads a file and returns what it is kept as, oldest first."""

    def send(path: Path, **said: str) -> list[RatingsFile]:
        file = SimpleUploadedFile(path.name, path.read_bytes())
        if request.param == "page":
            response = owner_client.post(UPLOAD, {"file": file, **said})
            assert response.status_code == 302, response.text
        else:
            response = owner_client.post("/api/v1/ratings-files/", {"file": file, **said})
            assert response.status_code == 201, response.text
        return list(RatingsFile.objects.order_by("uploaded_at"))

    return send


def result(file: RatingsFile, owner: User, settings: AnalysisSettings) -> Mapping[str, Any]:
    run: AnalysisRun = finish(start_run(ratings_file=file, user=owner, settings=settings))
    assert run.report is not None, run.job.error
    return run.report["summary"]


@pytest.mark.parametrize("name", LEVELS)
def test_uploaded_levels_have_the_same_means(cases: Path, expected, owner: User, upload: Upload, name: str) -> None:
    (file,) = upload(cases / name)
    assert_means(result(file, owner, load_settings("likert")), expected[name]["means"])
    assert file.reading["sentence"].startswith("4 raters judged 36 outputs of 3 systems")


def test_uploaded_tasks_are_a_file_each(cases: Path, expected, owner: User, upload: Upload) -> None:
    files = upload(cases / "two_tasks.csv")
    for file, (task, raw) in zip(files, expected["two_tasks.csv"]["raw_by_task"].items(), strict=True):
        assert file.made_from["task"] == task
        summary = result(file, owner, recognise(Path(file.file.path), GUESSED))
        assert {row["system"]: round(row["raw"], 4) for row in summary["systems"]} == raw


def test_uploaded_decimal_commas_are_read(cases: Path, expected, owner: User, upload: Upload) -> None:
    (file,) = upload(cases / "decimal_comma.csv")
    summary = result(file, owner, recognise(Path(file.file.path), GUESSED))
    right = expected["decimal_comma.csv"]["raw"]
    assert {row["system"]: round(row["raw"], 4) for row in summary["systems"]} == right


@pytest.mark.parametrize("twice", ["first", "last", "mean"])
def test_uploaded_answers_that_stand_twice_count_as_said(
    cases: Path, expected, owner: User, upload: Upload, twice: str
) -> None:
    name = "repeated_answers.csv"
    (file,) = upload(cases / name, twice=twice)
    said = " ".join(file.reading["said"])
    assert f"of which the {twice} counts: {expected[name]['n_twice']}" in said
    assert f"count once: {expected[name]['n_exact_copies']}" in said
    by_command, _ = analysed(cases / name, protocol="likert", twice=twice)
    assert means_of(result(file, owner, load_settings("likert"))) == means_of(by_command)


def test_an_uploaded_file_without_systems_is_of_one(cases: Path, expected, owner: User, upload: Upload) -> None:
    name = "no_system.csv"
    (file,) = upload(cases / name)
    assert "No column says which system" in " ".join(file.reading["said"])
    run = finish(start_run(ratings_file=file, user=owner, settings=load_settings("likert")))
    assert run.report is not None
    assert len(run.report["summary"]["systems"]) == 1
    found = run.report["questions"]["reliability"]["criteria"]
    alpha = {each["name"]: round(each["between"]["coefficients"]["alpha_ordinal"], 4) for each in found}
    assert alpha == {criterion: levels["ordinal"] for criterion, levels in expected[name]["alpha"].items()}


MOST_LINES = 6
"""As the cases say of `all_rows_wrong.csv`."""


def test_the_same_fault_in_all_rows_is_one_line(cases: Path) -> None:
    with pytest.raises(CommandError) as refused:
        analysed(cases / "all_rows_wrong.csv", protocol="likert")
    assert len(str(refused.value).splitlines()) <= MOST_LINES and "144 rows" in str(refused.value)


def test_the_same_fault_in_all_uploaded_rows_is_one_problem(cases: Path, owner: User, upload: Upload) -> None:
    (file,) = upload(cases / "all_rows_wrong.csv")
    with pytest.raises(TableError) as refused:
        result(file, owner, load_settings("likert"))
    (fault,) = refused.value.faults
    assert (fault.rows[0], fault.column, fault.n) == (2, "score", 144)


@pytest.mark.parametrize("address", ["analysis:metric_upload", "api:metrics"])
def test_uploaded_metrics_may_have_a_column_each(
    cases: Path, expected, owner: User, owner_client: Client, tmp_path: Path, address: str
) -> None:
    (tmp_path / "own.json").write_text(
        json.dumps({"criteria": ["adequacy", "fluency"], "scale": [1, 5], "worker_test": "none"})
    )
    path = cases / "levels_long.csv"
    assert owner_client.post(UPLOAD, {"file": SimpleUploadedFile(path.name, path.read_bytes())}).status_code == 302
    settings = load_settings(str(tmp_path / "own.json"))
    run = finish(start_run(ratings_file=RatingsFile.objects.get(), user=owner, settings=settings))
    name = "metrics_wide.csv"
    sent = {"file": SimpleUploadedFile(name, (cases / name).read_bytes())}
    assert owner_client.post(reverse(address, args=[run.pk]), sent).status_code in (202, 302)
    compared = finish(AnalysisRun.objects.exclude(pk=run.pk).select_related("ratings_file").get())
    assert compared.report is not None
    assert {each["name"] for each in compared.report["questions"]["metrics"]["metrics"]} == {"BLEU", "COMET"}
    scores = load_segment_scores(Path(MetricScores.objects.get().file.path), has_metrics=True)
    for metric, right in expected[name]["means"].items():
        means = scores.system_scores(metric, scores.systems)
        assert dict(zip(scores.systems, means.round(4).tolist(), strict=True)) == right


@pytest.mark.parametrize("name", MARKED)
def test_uploaded_marks_have_the_same_penalties(cases: Path, expected, owner: User, upload: Upload, name: str) -> None:
    *_, file = upload(cases / name)
    summary = result(file, owner, load_settings("mqm"))
    assert {row["system"]: round(row["score"], 4) for row in summary["systems"]} == expected[name]["penalty"]


@pytest.mark.parametrize("address", [UPLOAD, "/api/v1/ratings-files/"])
def test_uploaded_files_of_annotators_of_potato_are_one(
    cases: Path, expected, owner: User, owner_client: Client, address: str
) -> None:
    case = expected["potato/"]
    first, *more = (SimpleUploadedFile(Path(name).name, (cases / name).read_bytes()) for name in case["files"])
    items = SimpleUploadedFile("items.jsonl", (cases / case["items"]).read_bytes())
    response = owner_client.post(address, {"file": first, "more": more, "items": items})
    assert response.status_code in (201, 302), response.text
    summary = result(RatingsFile.objects.get(), owner, load_settings("likert"))
    assert {row["system"]: round(row["score"], 4) for row in summary["systems"]} == case["means"]


def test_battles_are_recognised_by_what_others_call_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text(
        "question_id,model_a,model_b,winner,judge\n1,x,y,model_a,ann\n1,y,x,tie (bothbad),bob\n2,x,y,model_b,ann\n"
    )
    found, said = analysed(path)
    assert "analysed by the protocol preference" in said
    assert found["n_votes"] == 3
