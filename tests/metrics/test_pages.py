"""The page of metrics: scores are uploaded or computed, compared with people, removed."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from analysis.metrics.kinds.fed import FedReply
from analysis.models import AnalysisRun, MetricScores
from analysis.results.exports import draw_figure
from analysis.web.forms.metrics import MetricsForm
from analysis.web.queries.metrics import describe_data, list_references, read_texts
from analysis.web.services.campaigns import analyse_campaign
from analysis.web.services.deletion import delete_ratings_file
from campaigns.models import Output, Source
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import KEPT_FOR, forget_expired
from tests.analysis.campaigns import rated_campaign
from tests.analysis.conftest import finish, kept_files
from tests.analysis.test_downloads import as_downloaded, replicated_elsewhere
from tests.campaigns.cast import add_outputs, make_campaign
from tests.metrics.tiny_models import DIALOGUE, causal_lm, encoder, masked_lm

SYSTEMS = ("alder", "birch", "cedar")


def scores_csv(metrics=("good", "poor"), systems=SYSTEMS, n_sources=8, separator=",", sources=True):
    """Scores of metrics, of which the first ranks the systems as people do and the last the other way round."""
    rng, lines = np.random.default_rng(1), [separator.join(("metric", "system", "source", "score"))]
    for m, metric in enumerate(metrics):
        for s, system in enumerate(systems):
            for q in range(n_sources if sources else 1):
                score = round((s if m else -s) + rng.normal(0, 0.3), 3)
                lines.append(separator.join((metric, system, f"q{q}" if sources else "", str(score))))
    return "\n".join(lines) + "\n"


def send(client, run, content, name="scores.csv"):
    data = content if isinstance(content, bytes) else content.encode()
    return client.post(reverse("analysis:metric_upload", args=[run.pk]), {"file": SimpleUploadedFile(name, data)})


def newest(run):
    found = AnalysisRun.objects.filter(ratings_file=run.ratings_file).select_related("ratings_file").first()
    return found if found.report else finish(found)


def page(client, run, **query):
    return client.get(reverse("analysis:metrics", args=[run.pk]), query, follow=True)


def test_uploaded_scores_are_compared_in_a_new_analysis(owner_client, done):
    assert "No metrics yet" in page(owner_client, done).text
    answer = send(owner_client, done, scores_csv())
    run = newest(done)
    assert (run.parent_id, run.settings) == (done.pk, done.settings)
    assert answer.url == reverse("analysis:metrics", args=[done.pk])
    shown = page(owner_client, run)
    assert "good agrees best with people over 3 systems" in shown.text
    assert "Biggest disagreements" in shown.text and "compared here" in shown.text
    assert page(owner_client, run, metric="poor").text.count("q") > 10
    assert page(owner_client, run, metric="none").status_code == 404
    found = run.report["questions"]["metrics"]
    assert [metric["name"] for metric in found["metrics"]] == ["good", "poor"]
    assert found["metrics"][0]["system"][0]["spearman"][0] == 1
    assert found["metrics"][1]["pairwise_accuracy"] == 0
    # Nothing was changed in the analysis of before, which does not show them
    assert "in later analyses" in page(owner_client, done).text
    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    for table in ("metrics.csv", "williams.tex", "metric-disagreements.csv"):
        assert (folder / "tables" / table).is_file(), table
    for figure in ("metric-systems", "metric-ranks", "williams", "metric-segments"):
        assert draw_figure(folder, f"figures/{figure}.svg"), figure


def test_the_package_gives_the_same_tables(owner_client, done, tmp_path):
    send(owner_client, done, scores_csv() + "system-level,alder,,3.5\nsystem-level,birch,,2\n")
    summary, printed = replicated_elsewhere(as_downloaded(owner_client, newest(done)), tmp_path)
    assert printed == summary
    assert "--metrics metrics.csv" in (tmp_path / "package/README.txt").read_text()
    names = [path.name for path in (tmp_path / "package/tables").iterdir()]
    assert sum("metric" in name or "williams" in name for name in names) == 14


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("metric,system,source,score\ngood,alder,q1,high\n", "“high” is not a number"),
        ("metric;system;source;score\ngood;alder;q1;0,25\n", "Write a decimal point: 0.25"),
        ("system,source,score\nalder,q1,1\n", "there is no such column"),
        (scores_csv(systems=("Alder",)), "has scores of none of the rated systems"),
        ("", "The submitted file is empty"),
    ],
)
def test_a_file_that_cannot_be_used_is_not_kept(owner_client, done, content, said):
    before = kept_files()
    answer = send(owner_client, done, content)
    assert answer.status_code == 422
    assert said in answer.text
    assert kept_files() == before
    assert not MetricScores.objects.exists()


def test_the_same_metric_is_refused_twice_until_it_is_removed(owner_client, done, django_capture_on_commit_callbacks):
    send(owner_client, done, scores_csv())
    assert "There are scores of “good” already" in send(owner_client, done, scores_csv(metrics=("good",))).text
    scores = MetricScores.objects.get()
    path = Path(scores.file.path)
    with django_capture_on_commit_callbacks(execute=True):
        answer = owner_client.post(reverse("analysis:metric_remove", args=[done.pk, scores.pk]), follow=True)
        forget_expired(timezone.now() + KEPT_FOR)
    assert "was removed" in answer.text
    assert not path.exists()
    assert send(owner_client, done, scores_csv(metrics=("good",))).status_code == 302


def test_a_file_in_windows_1252_is_asked_about(owner_client, done):
    content = scores_csv(metrics=("Güte",), separator=";").encode("windows-1252")
    answer = send(owner_client, done, content)
    scores = MetricScores.objects.get()
    assert answer.url == reverse("analysis:metric_encoding", args=[done.pk, scores.pk])
    assert "Güte;alder" in owner_client.get(answer.url).text
    assert "Encoding?" in page(owner_client, done).text
    owner_client.post(answer.url, {"encoding": "utf-16"})
    assert not MetricScores.objects.get().encoding
    owner_client.post(answer.url, {"encoding": "windows-1252"})
    assert [each["name"] for each in newest(done).report["questions"]["metrics"]["metrics"]] == ["Güte"]


def test_metrics_of_other_systems_are_not_tested_against_each_other(owner_client, done):
    fewer = "".join(line + "\n" for line in scores_csv(("fewer",)).splitlines() if "cedar" not in line)
    send(owner_client, done, scores_csv() + fewer.split("\n", 1)[1])
    found = newest(done)
    assert "Metrics that do not cover the same systems are not tested" in page(owner_client, found).text
    names = [metric["name"] for metric in found.report["questions"]["metrics"]["metrics"]]
    assert found.report["questions"]["metrics"]["williams"][names.index("fewer")] == [None] * 3


def test_scores_of_whole_systems_alone_say_nothing_of_outputs(owner_client, done):
    send(owner_client, done, scores_csv(sources=False))
    text = page(owner_client, newest(done)).text
    assert "no single output can be compared" in text
    assert "Biggest disagreements" not in text


def test_a_deleted_ratings_file_takes_its_scores_along(owner, owner_client, done):
    send(owner_client, done, scores_csv())
    newest(done)
    Job.objects.update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    delete_ratings_file(ratings_file=done.ratings_file, user=owner)
    assert not MetricScores.objects.exists()


# --- Computed of a campaign's outputs


@pytest.fixture
def rated(owner):
    campaign = rated_campaign(owner)
    run = analyse_campaign(campaign=campaign, user=owner)
    return finish(AnalysisRun.objects.select_related("ratings_file__campaign").get(pk=run.pk))


def compute(client, run, **data):
    return client.post(reverse("analysis:metric_compute", args=[run.pk]), data, follow=True)


def test_metrics_of_a_campaign_are_computed_in_a_job_and_compared(owner_client, rated):
    campaign = rated.ratings_file.campaign
    shown = page(owner_client, rated)
    human = campaign.systems.get(is_human=True)
    assert f'value="system:{human.pk}"' in shown.text
    data = {"kinds": ["rouge-l", "q-bleu"], "reference": f"system:{human.pk}", "q-bleu-name": "50"}
    answer = compute(owner_client, rated, **data)
    assert "Metrics are being computed" in answer.text
    compute(owner_client, rated, **data)
    job = Job.objects.get(kind="analysis.metrics")  # two clicks, one job
    reported = []
    context = JobContext()
    context.progress = lambda *progress: reported.append(progress)
    get_handler(job.kind)(context, **job.args)
    Job.objects.filter(pk=job.pk).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    scores = MetricScores.objects.get()
    assert scores.options["options"]["q-bleu"]["name"] == "50"
    assert reported[0][2] == "Reading the outputs"
    assert (
        reported[-1][0]
        == reported[-1][1]
        == 2 * Output.objects.filter(source__campaign=campaign).exclude(system=human).count()
    )
    run = newest(rated)
    assert run.parent_id == rated.pk
    found = {metric["name"]: metric for metric in run.report["questions"]["metrics"]["metrics"]}
    assert set(found) == {"ROUGE-L", "Q-BLEU1", "Q-BLEU4"}
    place = run.report["questions"]["metrics"]["systems"].index(human.name)
    assert found["ROUGE-L"]["scores"][place] is None  # it is the reference
    shown = page(owner_client, run)
    output = Output.objects.filter(source__campaign=campaign).exclude(system=human).first()
    assert "?page=1#source-" in shown.text
    assert output.text[:20] in shown.text or len(found["ROUGE-L"]["disagreements"]) == 10
    # Again with others: the new ones take the place of the old ones
    compute(owner_client, run, kinds=["rouge-l"], reference=f"system:{human.pk}")
    job = Job.objects.filter(kind="analysis.metrics").latest("created_at")
    get_handler(job.kind)(JobContext(), **job.args)
    assert [each["name"] for each in MetricScores.objects.get().metrics] == ["ROUGE-L"]


def test_what_cannot_be_computed_is_refused_in_words(owner_client, owner, rated, done):
    campaign = rated.ratings_file.campaign
    reference = list_references(campaign)[0].value
    assert "This field is required" in compute(owner_client, rated, reference=reference).text
    assert "Select a valid choice" in compute(owner_client, rated, kinds=["rouge-l"], reference="field:no").text
    answer = compute(owner_client, rated, kinds=["q-bleu"], reference=reference, **{"q-bleu-name": "much"})
    assert "A number from 0 to 100" in answer.text
    assert "Outputs and references are not known here" in page(owner_client, done).text
    campaign.sources.update(fields={})
    with pytest.raises(DomainError, match="No output has a reference"):
        read_texts(campaign, "field:passage")


def test_metrics_by_a_model_are_offered_with_what_they_lack(owner_client, rated, folder):
    campaign = rated.ratings_file.campaign
    assert "It needs a model folder, and there is none" in page(owner_client, rated).text
    answer = compute(owner_client, rated, kinds=["qascore"])
    assert (answer.status_code, "QAScore: It needs a model folder" in answer.text) == (422, True)
    masked_lm(folder, max_position_embeddings=152)
    shown = page(owner_client, rated).text
    assert '<option value="tiny-mlm">' in shown and '<option value="passage" selected>' in shown
    assert "These outputs are neither" not in shown and "these outputs are neither" in shown  # USR and FED
    answer = compute(owner_client, rated, kinds=["qascore"])
    assert "choose a model. There are “tiny-mlm”" in answer.text
    campaign.sources.filter(pk=campaign.sources.first().pk).update(fields={"passage": "x", "answer": ""})
    compute(owner_client, rated, kinds=["qascore"], **{"qascore-model": "tiny-mlm"})
    job = Job.objects.get(kind="analysis.metrics")
    get_handler(job.kind)(JobContext(), **job.args)
    Job.objects.filter(pk=job.pk).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    run = newest(rated)
    (found,) = run.report["questions"]["metrics"]["metrics"]
    place = run.report["questions"]["metrics"]["systems"].index(campaign.systems.get(is_human=True).name)
    assert found["name"] == "QAScore" and found["scores"][place] < 0  # people's outputs are scored, too
    (row,) = MetricScores.objects.get().metrics
    assert row["n_left_out"] == campaign.systems.filter(is_degraded=False).count()
    assert row["n_windowed"] == row["n_outputs"] > 0
    shown = page(owner_client, run).text
    assert f"(tiny-mlm; {row['n_windowed']} outputs read in windows; {row['n_left_out']} outputs left out)" in shown


def test_a_model_that_does_not_fit_fails_the_job_with_the_reason(owner_client, rated, folder):
    encoder(folder)
    compute(owner_client, rated, kinds=["qascore"], **{"qascore-model": "tiny-encoder"})
    job = Job.objects.get(kind="analysis.metrics")
    with pytest.raises(DomainError, match="“tiny-encoder” cannot be used: it has no output “logits”"):
        get_handler(job.kind)(JobContext(), **job.args)
    scores = MetricScores.objects.get()
    assert not scores.finished_at and not scores.file


def test_dialogues_are_scored_without_references(owner, owner_client, folder):
    causal_lm(folder)
    campaign = make_campaign(owner, "dialogue-turn")
    outputs = add_outputs(campaign, 3, ("human", "system-a"))
    Source.objects.filter(campaign=campaign).update(fields={"dialogue": DIALOGUE})
    data = describe_data(campaign)
    assert (data.dialogue_field, data.output_format) == ("dialogue", "reply")
    texts = read_texts(campaign, "")
    assert texts.references == [""] * len(outputs) and texts.data == data
    found = FedReply().score(texts, FedReply().check(data, {"model": "tiny-gpt"}), lambda: None)
    assert all(np.isfinite(each.segments).all() for each in found)
    campaign.screen["output_format"] = "dialogue"
    assert describe_data(campaign).has_references is False
    form = MetricsForm([], describe_data(campaign))
    assert [value for value, _ in form.fields["kinds"].widget.choices] == ["fed-dialogue", "usr-mlm", "usr-dr-c"]


def test_references_of_a_field_are_given_to_every_system(rated):
    campaign = rated.ratings_file.campaign
    texts = read_texts(campaign, "field:answer")
    assert len(texts.outputs) == Output.objects.filter(source__campaign=campaign).count()
    for k in (0, len(texts.outputs) - 1):
        source = campaign.sources.get(name=texts.sources[texts.source[k]])
        assert texts.references[k] == source.fields["answer"]
        assert texts.outputs[k] == source.outputs.get(system__name=texts.systems[texts.system[k]]).text


def test_texts_with_markup_are_compared_by_their_words(owner):
    campaign = make_campaign(owner, "da-translation")
    campaign.screen["output_format"] = "markdown"
    campaign.screen["fields"][1]["format"] = "html"
    campaign.save()
    add_outputs(campaign, 1, ("system-a",))
    Source.objects.filter(campaign=campaign).update(
        fields={"source": "**as it is**", "reference": "<p>So <b>it</b> is"}
    )
    Output.objects.filter(source__campaign=campaign).update(text="# So\n\n- [it](https://a.example) **is**")
    texts = read_texts(campaign, "field:reference")
    assert (texts.outputs, texts.references) == (["So\nit is"], ["So it is"])
    assert texts.fields[0]["source"] == "**as it is**"


def test_a_report_of_before_has_no_metrics_and_still_shows(owner_client, done):
    report = json.loads(json.dumps(done.report))
    report.pop("metrics", None)
    AnalysisRun.objects.filter(pk=done.pk).update(report=report)
    assert page(owner_client, done).status_code == 200
