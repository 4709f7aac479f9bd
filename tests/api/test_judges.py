"""Judges by script: add one, see what it costs, start and stop it, read its answers."""

import pytest

from analysis.models import Judge, JudgeAnswer, MetricScores
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from tests.analysis.campaigns import rated_campaign
from tests.metrics.judges import KEY, rating


@pytest.fixture
def rated(owner, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return rated_campaign(owner)


@pytest.fixture
def server(server):
    server.reply_to = rating
    return server


def test_a_judge_is_added_asked_and_read(api, owner, rated, server):
    client, address = api(owner), f"/api/v1/campaigns/{rated.public_id}/judges/"
    settings = {"base_url": server.base_url, "model": "judge-1"}
    sent = {"connector": "openai-chat", "name": "J", "settings": settings, "secrets": {"api_key": KEY}, "price_in": "2"}
    for wrong, field in (
        ({"connector": "retrieval"}, "connector"),
        ({"criteria": ["one"]}, "criteria"),
        ({"criteria": [0]}, "criteria"),
        ({"settings": settings | {"system_prompt": "Be kind."}}, "settings.system_prompt"),
        ({"settings": {"base_url": server.base_url}}, "settings.model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"name": ""}, "name"),
    ):
        answer = client.post(address, sent | wrong)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field]), wrong
    criterion = rated.criteria.first()
    answer = client.post(address, sent | {"criteria": [criterion.pk]})
    assert answer.status_code == 201
    found = answer.json()
    assert (found["criteria"], found["max_tokens"], found["price_in"]) == ([criterion.pk], 300, "2.000000")
    assert KEY not in answer.content.decode()
    assert client.post(address, sent).json()["errors"].keys() == {"name"}
    like = {"connector": "openai-chat", "like": f"judge:{found['id']}"}
    assert "like" in client.post(address, like | {"name": "K", "like": "judge:1"}).json()["errors"]
    twin = client.post(address, like | {"name": "K"}).json()
    assert twin["settings"] == found["settings"]
    assert Judge.objects.get(name="K").secrets
    client.delete(f"{address}{twin['id']}/")
    one = f"{address}{found['id']}/"
    estimate = client.get(f"{one}estimate/").json()
    assert (estimate["hosts"], estimate["n_calls"], estimate["n_left"]) == (["127.0.0.1"], 24, 24)
    assert criterion.statement in estimate["prompt"] and float(estimate["cost"]) < float(estimate["cost_at_most"])
    refused = client.post(f"{one}start/", {})
    assert refused.status_code == 422 and list(refused.json()["errors"]) == ["max_cost"]
    assert server.received == []
    started = client.post(f"{one}start/", {"max_calls": 3})
    assert started.status_code == 202
    assert client.delete(one).status_code == 409
    assert client.get(f"/api/v1/campaigns/{rated.public_id}/jobs/{started.json()['id']}/").status_code == 200
    get_handler("analysis.judge")(JobContext(), judge=found["id"])
    Job.objects.update(status=Job.Status.SUCCEEDED, finished_at=Job.objects.get().created_at)
    answers = client.get(f"{one}answers/").json()["results"]
    assert [each["state"] for each in answers] == ["scored"] * 3
    assert answers[0]["scores"].keys() == {str(criterion.pk)}
    assert client.get(f"{one}answers/?limit=2").json()["next"]
    shown = client.get(one).json()
    assert (shown["max_calls"], shown["price_in"]) == (3, "2.000000")  # what was not sent stays
    assert float(shown["spent"]) == 3 * 2 * 21 / 10**6
    assert shown["scores"] == str(MetricScores.objects.get().pk)
    assert client.post(f"{one}stop/").status_code == 409
    assert client.delete(one).status_code == 204
    assert not Judge.objects.exists() and not JudgeAnswer.objects.exists()
