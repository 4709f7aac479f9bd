"""The pages of judges: added, started, read, downloaded, for those who may."""

import csv
import io

from django.urls import reverse

from analysis.models import Judge
from campaigns.services.chatbots import add_chatbot
from evalsite.lib.encryption import decrypt_secrets
from tests.analysis.campaigns import analysed
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import on_both
from tests.metrics.judges import KEY, added, ask, fresh, run


def url_of(name, judge, *more):
    return reverse(f"analysis:{name}", args=[judge.campaign.public_id, judge.pk, *more])


def test_a_judge_is_added_estimated_started_and_read_on_pages(owner, owner_client, rated, server):
    analysed(rated, owner)
    metrics = reverse("analysis:campaign_metrics", args=[rated.public_id])
    add = reverse("analysis:judge_add", args=[rated.public_id, "openai-chat"])
    assert add in owner_client.get(metrics).text
    assert "system_prompt" not in owner_client.get(add).text
    sent = {
        "name": "Judge <1>",
        "option_base_url": server.base_url,
        "option_model": "judge-1",
        "secret_api_key": KEY,
        "criteria": [rated.criteria.first().pk],
        "price_in": "1",
        "price_out": "10",
        "max_cost": "2",
    }
    assert owner_client.post(add, sent | {"criteria": []}).status_code == 422
    answer = owner_client.post(add, sent)
    judge = Judge.objects.get()
    assert answer.url == url_of("judge", judge)
    page = owner_client.get(answer.url).text
    assert f"<bdi>{server.host.partition(':')[0]}</bdi>" in page and "Texts leave this site" in page
    assert "24 calls" in page and KEY not in page
    assert "Rate what is to be rated on each statement" in page and rated.criteria.first().statement in page
    refused = owner_client.post(url_of("judge_start", judge), {"max_cost": "", "max_calls": ""})
    assert refused.status_code == 422 and "Set a cap" in refused.text
    assert server.received == []
    owner_client.post(url_of("judge_start", judge), {"price_in": "1", "price_out": "10", "max_calls": "4"})
    assert "Stop" in owner_client.get(answer.url).text
    judge = run(fresh(judge))
    page = owner_client.get(answer.url).text
    assert "could have passed the cap" in page and "20 calls" in page
    assert 'Outputs judged</dt><dd class="stat-value">4 ' in page
    assert "Judge &lt;1&gt;" in owner_client.get(metrics).text
    assert [each["name"] for each in judge.scores.metrics] == ["Judge <1>"]


def test_a_judge_has_the_key_of_a_chatbot_that_one_may_edit_for_its_host_only(
    owner, owner_client, stranger, rated, server
):
    live = make_campaign(owner, "dialogue-free")
    settings = {"base_url": server.base_url, "model": "chatty"}
    chatbot = add_chatbot(
        campaign=live, name="Bot", connector="openai-chat", settings=settings, secrets={"api_key": KEY}
    )
    others = make_campaign(stranger, "dialogue-free")
    hidden = add_chatbot(campaign=others, name="Hidden", connector="openai-chat", settings=settings)
    add = reverse("analysis:judge_add", args=[rated.public_id, "openai-chat"])
    page = owner_client.get(add, {"like": f"chatbot:{chatbot.pk}"}).text
    assert "Bot (" in page and "Hidden" not in page and 'value="chatty"' in page and KEY not in page
    sent = {
        "name": "J",
        "option_base_url": server.base_url,
        "option_model": "m",
        "criteria": [rated.criteria.first().pk],
    }
    assert owner_client.post(add, sent | {"like": f"chatbot:{hidden.pk}"}).status_code == 422
    other = {"like": f"chatbot:{chatbot.pk}", "option_base_url": "https://evil.example.org/v1"}
    refused = owner_client.post(add, sent | other)
    assert refused.status_code == 422 and "is for another address" in refused.text
    assert not Judge.objects.exists()
    owner_client.post(add, sent | {"like": f"chatbot:{chatbot.pk}"})
    ask(fresh(Judge.objects.get()), owner, max_calls=1)
    assert server.received[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "J (Questions)" in owner_client.get(add).text


@on_both
def test_answers_are_downloaded_as_they_came_and_no_spreadsheet_runs_them(owner, owner_client, rated, server):
    server.say('=HYPERLINK("http://evil.example")')
    judge = ask(added(rated, owner, server), owner, max_calls=3)
    content = b"".join(owner_client.get(url_of("judge_answers", judge)).streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert len(rows) == 3
    assert rows[0]["answer"] == '\'=HYPERLINK("http://evil.example")'
    assert (rows[0]["state"], rows[1]["state"], rows[1]["tokens_in"]) == ("unparsable", "scored", "100")
    assert rows[1][f"score: {rated.criteria.first().name}"]
    assert len(rows[0]["prompt_sha256"]) == 64 and KEY not in content


def test_viewers_read_and_editors_ask(owner, owner_client, client, stranger, rated, server):
    add_member(rated, stranger, "viewer")
    judge = ask(added(rated, owner, server), owner, max_calls=2)
    client.force_login(stranger)
    page = client.get(url_of("judge", judge))
    start = url_of("judge_start", judge)
    assert page.status_code == 200 and start not in page.text and start in owner_client.get(url_of("judge", judge)).text
    assert client.post(url_of("judge_start", judge), {"max_calls": "9"}).status_code == 403


def test_keys_are_changed_and_cleared(owner, owner_client, rated, server):
    judge = added(rated, owner, server)
    keys = owner_client.get(url_of("judge", judge)).text.partition('id="secrets"')[2]
    assert ">Save</button>" in keys.partition("Clear")[0]  # a browser takes the first button when Enter is pressed
    owner_client.post(url_of("judge_keys", judge), {"secret_api_key": "sk-other"})
    assert decrypt_secrets(fresh(judge).secrets) == {"api_key": "sk-other"}
    owner_client.post(url_of("judge_keys", judge), {"clear": "api_key"})
    assert decrypt_secrets(fresh(judge).secrets) == {}


def test_scores_that_were_removed_are_made_again_without_a_call(owner, owner_client, rated, server):
    run_of = analysed(rated, owner)
    judge = ask(added(rated, owner, server), owner)
    owner_client.post(reverse("analysis:metric_remove", args=[run_of.pk, judge.scores_id]))
    judge = fresh(judge)
    assert judge.scores is None
    assert "Compare its scores again" in owner_client.get(url_of("judge", judge)).text
    judge = ask(judge, owner)
    assert len(server.received) == 24 and judge.scores.metrics[0]["n_outputs"] == 24
