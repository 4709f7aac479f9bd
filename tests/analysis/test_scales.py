"""Scores on another scale than 0–100: asked about, mapped, and given back as they came."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.scales import check_scale
from analysis.methods.settings import from_json
from analysis.models import AnalysisRun, RatingsFile
from evalsite.jobs.running import run_job
from evalsite.lib.errors import DomainError
from tests.analysis.conftest import ratings_csv
from tests.analysis.test_protocols import filled_in, finish, protocol_of
from tests.analysis.test_uploads import columns_of

SETTINGS = {
    "criteria": ["clear", {"name": "wordy", "is_negative": True}],
    "worker_test": {"preset": "paired-wilcoxon", "alpha": 0.9},
}


def on_scale(low: float, high: float) -> bytes:
    """Return ratings of two criteria, given in whole numbers on a scale."""
    header, *rows = ratings_csv(criteria=("clear", "wordy")).decode().splitlines()
    cut = [row.rsplit(",", 1) for row in rows]
    scores = [low + round(int(score) / 100 * (high - low)) for _, score in cut]
    return "\n".join([header, *(f"{rest},{score:g}" for (rest, _), score in zip(cut, scores, strict=True))]).encode()


FIVE, FULL = on_scale(1, 5), ratings_csv(criteria=("clear", "wordy"))


def mapped(low: float, high: float) -> bytes:
    """Return the ratings of `on_scale`, mapped to 0–100 by hand."""
    header, *rows = on_scale(low, high).decode().splitlines()
    cut = [row.rsplit(",", 1) for row in rows]
    return "\n".join([header, *(f"{rest},{(float(x) - low) / (high - low) * 100}" for rest, x in cut)]).encode()


def answer(client: Client, file: RatingsFile, **sent: Any):
    """Send the page of the columns as it is, with some fields changed."""
    page = client.get(columns_of(file)).context
    fields = {
        form[name].html_name: form[name].value() for form in (page["form"], page["scale"]) for name in form.fields
    }
    fields |= sent
    return client.post(columns_of(file), {name: value for name, value in fields.items() if value is not None})


def run_of(client: Client, file: RatingsFile) -> AnalysisRun:
    url = protocol_of(file)
    client.post(url, filled_in(client, url, **{"criteria-1-is_negative": "on", "alpha": "0.9"}))
    return AnalysisRun.objects.latest("created_at")


def summary_of(run: AnalysisRun) -> dict[str, Any]:
    found = {key: value for key, value in finish(run).report["summary"].items() if key != "scale"}
    assert all(row["z"] is not None for row in found["systems"])
    return found


@pytest.mark.parametrize(
    ("scores", "proposal"),
    [
        ([1, 3, 5], (1, 5)),
        ([2.5, 3.5], (1, 5)),
        ([1, 7], (1, 7)),
        ([1, 10], (0, 10)),
        ([0, 4], (0, 10)),
        ([0, 0.25, 1], (0, 1)),
        ([-3, 2], (-3, 3)),
        ([-0.5, 80], None),
        ([20, 101], None),
    ],
)
def test_short_and_foreign_scales_are_odd(scores: list[float], proposal) -> None:
    observed = check_scale(np.array([*scores, np.nan]))
    assert observed is not None
    assert (observed.low, observed.high, observed.proposal) == (scores[0], scores[-1], proposal)


@pytest.mark.parametrize("scores", [[], [np.nan], [5, 5], [0, 11], [3, 97.5], [0, 100]])
def test_scores_on_0_to_100_are_not(scores: list[float]) -> None:
    assert check_scale(np.array(scores, float)) is None


def test_nobody_is_asked_about_scores_on_0_to_100(owner_client: Client, upload) -> None:
    file = upload(FULL)
    assert "On which scale" not in owner_client.get(columns_of(file)).text
    assert answer(owner_client, file).status_code == 302
    file.refresh_from_db()
    assert file.scale is None


def test_five_steps_are_asked_about_and_mapped(owner_client: Client, upload) -> None:
    file, same = upload(FIVE), upload(mapped(1, 5))
    page = owner_client.get(columns_of(file))
    assert "All scores lie between 1 and 5" in page.text
    assert page.context["scale"]["scale"].value() == "1 5"

    assert answer(owner_client, file)["Location"] == protocol_of(file)

    file.refresh_from_db()
    assert file.scale == [1, 5]
    run = run_of(owner_client, file)
    assert run.settings["scale"] == [1, 5]
    assert summary_of(run) == summary_of(run_of(owner_client, same))
    assert "on a scale from 1 to 5" in owner_client.get(reverse("analysis:run", args=[run.pk])).text


def test_five_steps_may_be_scores_as_they_are(owner_client: Client, upload) -> None:
    file = upload(FIVE)
    answer(owner_client, file, scale="0 100")
    run = finish(run_of(owner_client, file))
    assert run.settings["scale"] == [0, 100]
    assert all(row["criteria"]["clear"]["raw"] <= 5 for row in run.report["summary"]["systems"])
    assert all(row["criteria"]["wordy"]["raw"] >= 95 for row in run.report["summary"]["systems"])


def test_a_scale_of_ones_own_is_mapped(owner_client: Client, upload) -> None:
    file = upload(on_scale(-20, 20))
    assert owner_client.get(columns_of(file)).context["scale"]["scale"].value() is None
    assert answer(owner_client, file).status_code == 422
    assert answer(owner_client, file, scale="other", low="20", high="-20").status_code == 422
    assert answer(owner_client, file, scale="other", low="-20", high="").status_code == 422
    assert answer(owner_client, file, scale="other", low="-20", high="inf").status_code == 422
    assert answer(owner_client, file, scale="other", low="-20", high="20").status_code == 302
    assert owner_client.get(columns_of(file)).context["scale"]["low"].value() == -20
    same = upload(mapped(-20, 20))
    assert summary_of(run_of(owner_client, file)) == summary_of(run_of(owner_client, same))


def test_another_column_of_scores_is_another_question(owner_client: Client, upload) -> None:
    rows = [line.rsplit(",", 1) for line in FULL.decode().splitlines()[1:]]
    lines = ["worker,assignment,position,source,system,kind,criterion,score,steps"]
    lines += [f"{rest},{score},{1 + int(score) % 5}" for rest, score in rows]
    file = upload("\n".join(lines).encode())

    asked = answer(owner_client, file, score="steps")

    assert asked.status_code == 422
    assert "All scores lie between 1 and 5" in asked.text
    file.refresh_from_db()
    assert file.mapping["score"] == "score"
    sent = {**file.mapping, "score": "steps", "scale": "1 5", "asked": asked.context["scale"]["asked"].value()}
    assert owner_client.post(columns_of(file), sent).status_code == 302
    file.refresh_from_db()
    assert (file.mapping["score"], file.scale) == ("steps", [1, 5])


@pytest.mark.django_db(transaction=True)
def test_a_run_of_scores_that_nobody_was_asked_about_says_where_to_answer(owner_client: Client, upload) -> None:
    file = upload(FIVE)
    run = run_of(owner_client, file)
    run_job(run.job_id)
    run.refresh_from_db()
    assert run.report is None
    page = owner_client.get(reverse("analysis:run", args=[run.pk])).text
    assert "which looks like a scale from 1 to 5" in page
    assert f'href="{columns_of(file)}"' in page


def test_the_package_holds_the_scores_as_given_and_reproduces(owner_client: Client, upload, tmp_path: Path) -> None:
    file = upload(FIVE)
    answer(owner_client, file)
    run = finish(run_of(owner_client, file))
    with zipfile.ZipFile(Path(django_settings.MEDIA_ROOT) / run.folder / "package.zip") as package:
        package.extractall(tmp_path)
    scores = {line.rsplit(",", 2)[1] for line in (tmp_path / "ratings.csv").read_text().splitlines()[1:]}
    assert scores <= {"1", "2", "3", "4", "5"}
    out, err = StringIO(), StringIO()
    protocol = str(tmp_path / "protocol.json")
    call_command("analyse", str(tmp_path / "ratings.csv"), protocol=protocol, format="json", stdout=out, stderr=err)
    assert out.getvalue() == (tmp_path / "summary.json").read_text()
    assert "on a scale from 1 to 5" in err.getvalue()


# --- The command line


def analyse(folder: Path, content: bytes, **options: Any) -> dict[str, Any]:
    (folder / "ratings.csv").write_bytes(content)
    (folder / "protocol.json").write_text(json.dumps(SETTINGS))
    out = StringIO()
    files = {"protocol": str(folder / "protocol.json"), "format": "json"}
    call_command("analyse", str(folder / "ratings.csv"), **files, **options, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def test_the_command_line_guesses_no_scale(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"looks like a scale from 1 to 5.*\n.*--scale 1 5, or --scale 0 100"):
        analyse(tmp_path, FIVE)
    with pytest.raises(CommandError, match=r"Scores are from 0 to 100.*\n(.*\n)*.*--scale LOW HIGH"):
        analyse(tmp_path, on_scale(-20, 20))
    with pytest.raises(CommandError, match="Scores are from 1 to 4"):
        analyse(tmp_path, FIVE, scale=[1, 4])
    with pytest.raises(CommandError, match="second number must be the greater"):
        analyse(tmp_path, FIVE, scale=[5, 1])


def test_the_command_line_maps_the_scale_it_is_given(tmp_path: Path) -> None:
    found = analyse(tmp_path, FIVE, scale=[1, 5])
    assert found.pop("scale") == [1, 5]
    assert found == analyse(tmp_path, mapped(1, 5))
    assert analyse(tmp_path, FIVE, scale=[0, 100])["scale"] == [0, 100]


@pytest.mark.parametrize("scale", [5, [1], [1, "5"], ["1", "5"], [5, 1], [1, True], [1, 5, 9], [-1e308, 0]])
def test_a_scale_that_cannot_be_is_refused(scale: Any) -> None:
    with pytest.raises(DomainError) as refused:
        from_json({**SETTINGS, "scale": scale})
    assert refused.value.code == "bad_settings"
