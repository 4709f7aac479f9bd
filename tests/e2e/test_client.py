"""A site used by a script: a campaign from its outputs to its results, and what goes wrong on the way."""

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from uuid import uuid4

import dj_database_url
import httpx
import nbformat
import pytest
from django.conf import global_settings
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone
from nbclient import NotebookClient

from analysis.templatetags.results import number
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.models import Campaign as StoredCampaign
from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.library import site as library
from evalsite.library.analysis import analyse
from evalsite.library.site import ApiError
from tests.databases import using_database
from tests.e2e.conftest import serve
from tests.jobs.processes import EMAIL, PASSWORD, Site
from tests.services import new_database, wait_until

ROOT = Path(__file__).parents[2]
SYSTEMS, N_SOURCES = ("alder", "birch", "cedar", "human"), 8
QUALITY = {"human": 1.0, "alder": 0.4, "birch": -0.3, "cedar": -1.1}
DESIGN = {"n_ordinary": 8, "n_degraded": 6, "n_repeat": 0, "n_reference": 0, "workers_per_hit": 2, "seed": 1}
OUTPUTS = "id,system,text,source\n" + "".join(
    f"s{k},{system},Sentence {k} as {system} writes it for all of us.,Satz {k}\n"
    for k in range(N_SOURCES)
    for system in SYSTEMS
)


class Installation(NamedTuple):
    """A served installation, how to act in its database, and a token of its researcher."""

    address: str
    database: Callable[[], AbstractContextManager[None]]
    token: str


@pytest.fixture(scope="module")
def served(
    request: pytest.FixtureRequest,
    site: Site,
    address: str,
    installation: Path,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_blocker: Any,
) -> Iterator[Installation]:
    """An installation on SQLite, or on the database that a test names: the client itself knows neither."""
    with django_db_blocker.unblock():
        if getattr(request, "param", "sqlite") == "sqlite":
            yield Installation(address, site.database, make_token(site.database))
            return
        request.getfixturevalue("postgres_database")  # of whose template this one is a copy
        folder = tmp_path_factory.mktemp("site")
        name = f"client_{uuid4().hex}"  # processes of the session share the server
        url = new_database(request.getfixturevalue("postgres_url"), name, template="template")
        database = partial(using_database, dj_database_url.parse(url))
        with override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS), database():
            User.objects.create_user(EMAIL, PASSWORD, name="Olu")
        with Site(folder, DJANGO_SETTINGS_MODULE="evalsite.settings", DATABASE_URL=url) as own:
            own.install(installation)
            yield Installation(serve(own), database, make_token(database))
            assert "Traceback" not in own.log()


def make_token(database: Callable[[], AbstractContextManager[None]]) -> str:
    with database():
        user = User.objects.get(email=EMAIL)
        return create_token(user=user, name=f"client {uuid4()}", scopes=Scope.values, now=timezone.now())[1]


def work(installation: Installation, public_id: str) -> None:
    """Have a crowd of known taste rate the campaign on its pages."""
    with installation.database(), open_site(installation.address) as client:
        campaign = StoredCampaign.objects.get(public_id=public_id)
        crowd = make_crowd(campaign, seed=1, n_workers=8, careless=0.25, quality=QUALITY)
        assert run_crowd(campaign, crowd, client, max_hits=1, patience_s=30).errors == []


def page_of(address: str, path: str) -> str:
    """Return a page as the researcher's browser gets it."""
    with httpx.Client(base_url=address, follow_redirects=True) as browser:
        form = browser.get("/accounts/sign-in/").text
        secret = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert secret
        sent = {"username": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": secret.group(1)}
        browser.post("/accounts/sign-in/", data=sent, headers={"Referer": f"{address}/accounts/sign-in/"})
        found = browser.get(path)
        assert found.status_code == 200
        return found.text


def digits_on(page: str) -> dict[str, list[str]]:
    """Return the cells of the ranking, by system."""
    rows = re.findall(r"<tr.*?</tr>", page.split("ranked-table")[1].split("</table>")[0], re.DOTALL)[1:]
    cells = [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in rows]
    return {row[1]: [row[0], *row[2:]] for row in cells}


def digits_of(row: dict[str, Any]) -> list[str]:
    """Return what the page shows of a row of the ranking."""
    interval = f"{number(row['low'])} to {number(row['high'])}"
    scores = [number(each["z"]) for each in row["criteria"]]
    return [str(row["rank"]), str(row["n"]), number(row["z"]), interval, number(row["raw"], 2), *scores]


@pytest.mark.parametrize("served", ["sqlite", "postgresql"], indirect=True)
def test_a_campaign_from_its_outputs_to_its_results(served: Installation, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.csv"
    outputs.write_text(OUTPUTS, "utf-8")
    with library.Site(served.address, served.token) as site:
        campaign = site.create("custom", name="Sentences")
        assert campaign.upload(outputs)["state"] == "imported"
        campaign.mark_human("human")
        for name in ("Fluency", "Adequacy"):
            campaign.add_criterion(name, f"This sentence has {name.lower()}.")
        campaign.change("instructions", instructions="Rate each sentence.")
        campaign.change("design", **DESIGN)
        assert campaign.estimate()["n_hits"] == 4
        campaign.build()
        assert len(campaign.preview(1)["items"]) == 14
        assert campaign.missing() == []
        campaign.launch()
        assert [campaign.pause()["status"], campaign.resume()["status"]] == ["paused", "running"]
        assert str(campaign.public_id) in (campaign.open_link() or "")
        work(served, campaign.public_id)
        assert campaign.progress()["totals"]["n_finished"] == 8

        answered = campaign.responses()
        run = campaign.analyse()
        assert campaign.get()["status"] == "closed"
        rows = run.result()["ranking"]["rows"]
        assert {row["system"] for row in rows} == set(SYSTEMS)
        shown = digits_on(page_of(served.address, f"/analysis/runs/{run.run_id}/"))
        assert shown == {row["system"]: digits_of(row) for row in rows}

        ratings = campaign.download("ratings.csv", tmp_path / "ratings.csv", ids="real")
        report, protocol = run.report(), tmp_path / "protocol.json"
        protocol.write_text(json.dumps(report["settings"]), "utf-8")
        printed = io.StringIO()
        call_command("analyse", str(ratings), protocol=str(protocol), format="json", stdout=printed)
        systems = json.loads(printed.getvalue())["systems"]
        assert [
            dict(row, **stored) for row, stored in zip(systems, report["summary"]["systems"], strict=True)
        ] == systems
        published = campaign.to_hf(tmp_path / "published", license="cc0-1.0", repository="lab/sentences")
        card = (published / "README.md").read_text()
        assert 'pretty_name: "Sentences"' in card
        assert "Which experiment is this form being completed for?" in card
        assert run.download("package.zip", tmp_path / "package.zip").read_bytes().startswith(b"PK")

        here = analyse(answered, report["settings"])
        assert here.findings == report["findings"]
        rated = analyse(published / "responses.parquet", report["settings"])
        assert (rated.systems.rows, rated.workers["worker"]) == (here.systems.rows, here.workers["worker"])
        scores = {row["system"]: row["score"] for row in report["summary"]["systems"]}
        assert dict(zip(here.systems["system"], here.systems["score"], strict=True)) == pytest.approx(scores)

        again = run.again(alpha=0.2)
        assert again.get()["parent"] == run.run_id
        assert [each.run_id for each in campaign.runs()] == [again.run_id, run.run_id]
        other = site.analyse(site.upload_ratings(ratings), settings=report["settings"])
        assert other.report()["summary"]["systems"] == report["summary"]["systems"]


def test_the_notebook_of_a_campaign_runs(served: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSITE_SITE", served.address)
    monkeypatch.setenv("EVALSITE_TOKEN", served.token)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    path = ROOT / "examples/notebooks/a-campaign-by-script.ipynb"
    notebook = nbformat.read(path, nbformat.current_nbformat)
    NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert served.address in str(shown) and not any(output.output_type == "error" for output in shown)


def test_a_refusal_has_its_code_fields_and_rows(served: Installation, tmp_path: Path) -> None:
    bad = tmp_path / "outputs.csv"
    bad.write_text(OUTPUTS + "s1,alder,Once more.,Satz 1\n", "utf-8")
    with library.Site(served.address, served.token) as site:
        campaign = site.create("custom", name="Refused")
        with pytest.raises(ApiError) as refused:
            campaign.change("design", n_ordinary=0)
        assert (refused.value.status, refused.value.code, list(refused.value.fields)) == (
            422,
            "invalid",
            ["n_ordinary"],
        )
        with pytest.raises(ApiError) as refused:
            campaign.upload(bad)
        assert refused.value.rows
        assert refused.value.rows[0]["row"] == 2 + N_SOURCES * len(SYSTEMS)
        with pytest.raises(ApiError) as refused:
            campaign.launch()
        assert (refused.value.status, refused.value.code) == (409, "no_outputs")
        names = [each.get()["name"] for each in site.campaigns()]
        assert "Refused" in names


def test_outputs_without_a_file_and_raters_by_name(served: Installation) -> None:
    rows = [dict(zip(("a", "b", "c", "d"), line.split(","), strict=True)) for line in OUTPUTS.splitlines()[1:]]
    roles = {"a": "source", "b": "system", "c": "output", "d": "field:source"}
    with library.Site(served.address, served.token) as site:
        campaign = site.create("custom", name="Rows", outputs=rows, roles=roles)
        assert [each["name"] for each in campaign.pages("sources/", limit=3)] == [f"s{k}" for k in range(N_SOURCES)]
        links = {each["name"]: each["link"] for each in campaign.invite("ann", "ben")}
        assert links["ann"] != links["ben"]
        assert site.campaign(campaign.public_id).get() == campaign.get()
        site.delete(campaign.at())

        def is_gone() -> bool:
            with pytest.raises(ApiError) as refused:
                campaign.get()
            return refused.value.status == 404

        wait_until(is_gone, 20, "the campaign is deleted")


def test_a_chatbot_is_added_and_asked(served: Installation) -> None:
    with library.Site(served.address, served.token) as site:
        campaign = site.create("dialogue-free", name="Chats")
        found = campaign.add_chatbot("retrieval", "Found", family="examples")
        asked = campaign.test_chatbot(found, "Do you have a dog?")
        assert (asked["ok"], asked["turns"][1]["by"]) == (True, "chatbot")
        assert [each["name"] for each in campaign.get("chatbots/")] == ["Found", "degraded"]


def test_what_does_not_end_is_not_waited_for(served: Installation) -> None:
    with library.Site(served.address, served.token, longest_wait_s=0) as site, pytest.raises(TimeoutError):
        site.wait({"id": "a job"})


class Busy(BaseHTTPRequestHandler):
    """A server that is asked too often, then away for a moment, then busy with the same request, then there."""

    answers = [429, 503, 409, 200]
    keys: list[str | None] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.keys.append(self.headers["Idempotency-Key"])
        self.send_response(status := self.answers.pop(0))
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}" if status == 200 else b"no")

    def log_message(self, *arguments: object) -> None:
        pass


def test_what_is_tried_again_keeps_its_key() -> None:
    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            with library.Site(f"http://127.0.0.1:{server.server_port}", "token") as site:
                assert site.post("campaigns/", {"protocol": "qg"}) == {}
        finally:
            server.shutdown()
    assert len(Busy.keys) == 4
    assert len(set(Busy.keys)) == 1
