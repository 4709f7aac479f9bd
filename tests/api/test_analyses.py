"""Results, as a script reads them: the numbers of the pages and of the command line."""

import io
import json
import zipfile
from dataclasses import asdict
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from analysis.methods.settings import from_protocol
from analysis.models import AnalysisRun, PowerAnalysis
from analysis.planning.plans import PlanSettings, make_plan
from analysis.results.compare import compare_results, comparison_sections
from analysis.results.exports import to_csv
from analysis.results.replication import compare_runs
from analysis.results.sections import Output
from analysis.stats.designs import PlannedDesign
from analysis.web.services.ratings_files import upload_ratings
from analysis.web.services.runs import start_run
from evalsite.accounts.models import Scope, User
from evalsite.lib.typed_json import to_json
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import CARELESS, finish, ratings_csv
from tests.api.conftest import Api
from tests.campaigns.cast import add_member

ROOT = "/api/v1/"


@pytest.fixture
def script(api: Api, owner: User) -> Client:
    return api(owner)


@pytest.fixture
def run(owner: User) -> AnalysisRun:
    return analysed(rated_campaign(owner), owner)


def _finished(answer: Any) -> AnalysisRun:
    assert answer.status_code == 202, answer.content
    return finish(AnalysisRun.objects.select_related("ratings_file").get(pk=answer.json()["id"]))


def _upload(script: Client) -> dict[str, Any]:
    file = SimpleUploadedFile("ratings.csv", ratings_csv())
    return script.post(f"{ROOT}ratings-files/", {"file": file, "title": "Mine"}, MULTIPART_CONTENT).json()


def test_a_file_is_uploaded_analysed_and_read(script: Client) -> None:
    file = _upload(script)
    assert file["mapping"]["score"] == "score"
    run = _finished(script.post(f"{ROOT}ratings-files/{file['id']}/runs/", {"protocol": "mrc-adequacy"}))
    here = f"{ROOT}runs/{run.pk}/"
    result = script.get(f"{here}result/").json()
    assert result["finding"] == run.result.findings
    assert [row["system"] for row in result["ranking"]["rows"]] == ["alder", "birch", "cedar"]
    assert result["ranking"]["rows"][0]["z"] == run.report["summary"]["systems"][0]["z"]
    assert script.get(f"{here}report/").json()["summary"] == json.loads(json.dumps(run.report["summary"]))
    overall = script.get(f"{here}comparisons/").json()[0]
    assert overall["p"] == run.report["comparisons"][0]["p"]
    titles = {section["slug"]: section for section in script.get(f"{here}sections/").json()}
    assert titles["ranking"]["tables"]


def test_a_file_is_looked_at_and_settings_are_proposed(script: Client, api: Api, owner: User, stranger: User) -> None:
    file = _upload(script)
    here = f"{ROOT}ratings-files/{file['id']}/"
    sample = script.get(f"{here}sample/").json()
    assert sample["columns"] == file["columns"]
    assert len(sample["rows"][0]) == len(file["columns"])
    assert api(owner, Scope.READ).get(f"{here}sample/").status_code == 403  # it has the workers' own ids
    fitting = script.get(f"{here}proposal/").json()
    assert fitting["criteria"] == [each["name"] for each in fitting["settings"]["criteria"]]
    proposed = script.get(f"{here}proposal/?protocol=mrc-adequacy").json()
    assert not proposed["cannot_test"]
    run = _finished(script.post(f"{here}runs/", {"settings": proposed["settings"]}))
    assert run.settings["protocol"] == "mrc-adequacy"
    assert script.get(f"{here}proposal/?protocol=nothing").status_code == 404
    for part in ("sample/", "proposal/"):
        assert api(stranger).get(f"{here}{part}").status_code == 404


def test_systems_are_compared_by_the_groups_of_the_settings(script: Client) -> None:
    lines = ratings_csv().decode().splitlines()
    content = "\n".join(
        [f"{lines[0]},domain", *(f"{line},{('news', 'chats')[k // 9 % 2]}" for k, line in enumerate(lines[1:]))]
    )
    file = SimpleUploadedFile("ratings.csv", content.encode())
    address = script.post(f"{ROOT}ratings-files/", {"file": file}, MULTIPART_CONTENT).json()["id"]
    address = f"{ROOT}ratings-files/{address}/runs/"
    settings = from_protocol("mrc-adequacy").to_json()
    run = _finished(script.post(address, {"settings": settings | {"groups": ["domain"]}}))
    sections = script.get(f"{ROOT}runs/{run.pk}/sections/").json()
    [section] = [each for each in sections if each["slug"] == "groups"]
    assert section["finding"] == " ".join(run.report["groups"][0]["said"])
    refused = script.post(address, {"settings": settings | {"groups": ["domian"]}})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_settings")
    assert "“domian”" in refused.text and "“domain”" in refused.text


def test_settings_of_a_package_make_the_same_analysis(script: Client) -> None:
    file = _upload(script)
    address = f"{ROOT}ratings-files/{file['id']}/runs/"
    first = _finished(script.post(address, {"protocol": "mrc-adequacy"}))
    second = _finished(script.post(address, {"settings": first.settings | {"excluded": {CARELESS: "clicks"}}}))
    changes = script.get(f"{ROOT}runs/{second.pk}/changes/?against={first.pk}").json()
    assert changes["workers_gained"] == []
    refused = script.post(address, {"settings": {"criteria": []}})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_settings")
    for has_nul in ({"criteria": ["a\0b"]}, {"criteria": ["a"], "excluded": {"w\0": "clicks"}}):
        assert script.post(address, {"settings": has_nul}).json()["code"] == "bad_settings"
    assert script.post(address, {}).status_code == 422
    assert len(script.get(address).json()["results"]) == 2


def test_a_campaign_is_analysed(script: Client, owner: User, run: AnalysisRun) -> None:
    address = f"{ROOT}campaigns/{run.ratings_file.campaign.public_id}/runs/"
    assert [row["id"] for row in script.get(address).json()["results"]] == [str(run.pk)]
    nothing_new = script.post(address)
    assert (nothing_new.status_code, nothing_new.json()["code"]) == (409, "nothing_new")


def test_workers_are_named_for_owners_with_their_scope(
    api: Api, script: Client, owner: User, colleague: User, run: AnalysisRun
) -> None:
    add_member(run.ratings_file.campaign, colleague, "editor")

    def workers(client: Client) -> set[str]:
        return {row["worker"] for row in client.get(f"{ROOT}runs/{run.pk}/workers/").json()}

    own = {row["worker"] for row in run.report["worker_table"]}
    assert workers(script) == own
    for client in (api(owner, Scope.READ), api(colleague)):
        assert not workers(client) & own
        everything = client.get(f"{ROOT}runs/{run.pk}/report/").content + client.get(f"{ROOT}runs/{run.pk}/").content
        assert not any(name.encode() in everything for name in own)


def test_a_worker_is_excluded_and_counts_again(script: Client, api: Api, owner: User, run: AnalysisRun) -> None:
    worker = run.report["worker_table"][0]["worker"]
    address = f"{ROOT}runs/{run.pk}/exclusions/"
    assert api(owner, Scope.EDIT).post(address, {"worker": worker, "reason": "x"}).status_code == 403
    without = _finished(script.post(address, {"worker": worker, "reason": "clicked blindly"}))
    assert without.settings["excluded"] == {worker: "clicked blindly"}
    again = script.post(f"{ROOT}runs/{without.pk}/exclusions/", {"worker": worker, "again": True})
    assert again.json()["settings"]["excluded"] == {}


def test_an_answer_with_names_is_not_given_again_to_another_token(
    script: Client, api: Api, owner: User, run: AnalysisRun
) -> None:
    worker = run.report["worker_table"][0]["worker"]
    sent = {"worker": worker, "reason": "clicked blindly"}
    without = _finished(script.post(f"{ROOT}runs/{run.pk}/exclusions/", sent))
    address, key = f"{ROOT}runs/{without.pk}/again/", {"Idempotency-Key": "mine"}
    assert worker in script.post(address, {"alpha": 0.01}, headers=key).json()["settings"]["excluded"]
    answer = api(owner, Scope.EDIT).post(address, {"alpha": 0.01}, headers=key)
    assert worker not in answer.content.decode()
    assert answer.status_code == 422


def test_files_of_a_run_are_listed_and_sent(script: Client, run: AnalysisRun) -> None:
    address = f"{ROOT}runs/{run.pk}/files/"
    paths = [file["path"] for file in script.get(address).json()]
    assert "package.zip" in paths
    package = b"".join(script.get(f"{address}package.zip").streaming_content)
    assert "summary.json" in zipfile.ZipFile(io.BytesIO(package)).namelist()
    table = next(path for path in paths if path.endswith(".csv"))
    assert b"".join(script.get(f"{address}{table}").streaming_content)
    assert script.get(f"{address}../../../secret_key").status_code == 404


def test_an_analysis_is_made_again_with_other_settings(script: Client, api: Api, owner: User, run: AnalysisRun) -> None:
    address = f"{ROOT}runs/{run.pk}/again/"
    assert api(owner, Scope.READ).post(address, {"alpha": 0.01}).status_code == 403
    changed = _finished(script.post(address, {"alpha": 0.01}))
    assert changed.settings["worker_test"] == run.settings["worker_test"] | {"alpha": 0.01}
    assert changed.parent == run
    same = script.post(address, {})
    assert (same.status_code, same.json()["code"]) == (409, "nothing_changed")
    refused = script.post(address, {"alpha": 2, "colour": "red"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["colour"])
    assert script.get(f"{ROOT}runs/{run.pk}/chats/").status_code == 404  # nobody chatted


def test_groups_of_an_analysis_are_attributes_of_raters(script: Client, run: AnalysisRun) -> None:
    campaign = run.ratings_file.campaign
    refused = script.post(f"{ROOT}runs/{run.pk}/again/", {"groups": ["pool"]})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["groups"])
    names = sorted({each.worker.name for each in campaign.assignments.select_related("worker")})
    raters = [{"name": name, "attributes": {"pool": "ab"[k % 2]}} for k, name in enumerate(names)]
    assert script.post(f"{ROOT}campaigns/{campaign.public_id}/raters/", {"names": raters}).status_code == 201
    address = f"{ROOT}runs/{analysed(campaign).pk}/again/"
    assert script.post(address, {"groups": ["worker"]}).status_code == 422
    grouped = _finished(script.post(address, {"groups": ["pool"]}))
    assert grouped.report["groups"][0]["groups"] == ["a", "b"]
    kept = _finished(script.post(f"{ROOT}runs/{grouped.pk}/again/", {"alpha": 0.01}))
    assert kept.settings["groups"] == ["pool"]


def test_workers_of_a_campaign_are_those_of_the_page(
    api: Api, script: Client, owner: User, colleague: User, stranger: User, run: AnalysisRun
) -> None:
    campaign = run.ratings_file.campaign
    add_member(campaign, colleague, "editor")
    address = f"{ROOT}campaigns/{campaign.public_id}/workers/"
    verdicts = {row["worker"]: (row["verdict"], row["p"]) for row in run.report["worker_table"]}
    found = {row["worker"]: (row["conduct"]["verdict"], row["conduct"]["p"]) for row in script.get(address).json()}
    assert found == verdicts
    for client in (api(owner, Scope.READ), api(colleague)):
        assert not {row["worker"] for row in client.get(address).json()} & verdicts.keys()
    assert len(script.get(f"{address}?search={next(iter(verdicts))}").json()) == 1
    refused = script.get(f"{address}?show=asleep")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["show"])
    assert api(stranger).get(address).status_code == 404


def test_a_replication_is_compared_with_its_original(
    api: Api, script: Client, owner: User, colleague: User, run: AnalysisRun
) -> None:
    original = run.ratings_file.campaign
    second = analysed(rated_campaign(owner, n_hits=3, replicates=original), owner)
    address = f"{ROOT}campaigns/{second.ratings_file.campaign.public_id}/replication/"
    found = to_json(compare_runs(run.result, second.result))
    del found["criterion_order"]  # an answer of JSON has no order
    assert script.get(address).json() == json.loads(json.dumps(found))
    add_member(second.ratings_file.campaign, colleague, "viewer")
    assert api(colleague).get(address).status_code == 404  # who may not see the original
    assert script.get(f"{ROOT}campaigns/{original.public_id}/replication/").status_code == 404


def test_results_are_shared_by_a_link_and_not_any_more(script: Client, run: AnalysisRun) -> None:
    address = f"{ROOT}campaigns/{run.ratings_file.campaign.public_id}/share-links/"
    made = script.post(address, {"note": "reviewers", "ends_on": "2999-12-31"})
    assert made.status_code == 201, made.content
    assert script.get(address).json() == [made.json()]
    assert Client().get(made.json()["url"]).status_code == 200
    refused = script.post(address, {"ends_on": "2020-01-01"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["ends_on"])
    assert script.delete(f"{address}{made.json()['id']}/").status_code == 204
    assert script.get(address).json() == []
    assert Client().get(made.json()["url"]).status_code == 404


def test_a_datasheet_is_read_and_completed(script: Client, run: AnalysisRun) -> None:
    address = f"{ROOT}campaigns/{run.ratings_file.campaign.public_id}/datasheet/"
    found = script.get(address).json()
    assert found["version"] == "3.0" and found["parts"][-1]["title"] == "Ethics"
    key = found["parts"][-1]["questions"][0]["key"]
    done = script.post(address, {"question": key, "answer": "The board"}).json()
    assert done["n_open"] == found["n_open"] - 1
    assert done["parts"][-1]["questions"][0]["answer"] == "The board"
    refused = script.post(address, {"question": "heds-9", "answer": "?"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["question"])
    paper = script.get(f"{ROOT}runs/{run.pk}/paper/").json()
    assert [text["name"] for text in paper["texts"]] == ["methods", "results"]


def test_a_campaign_is_planned_with_what_is_sent_and_its_design_otherwise(script: Client, run: AnalysisRun) -> None:
    campaign = run.ratings_file.campaign
    here = f"{ROOT}campaigns/{campaign.public_id}/plans/"
    sent = {"n_workers": 7, "difference": 12.5, "worker_test": "none", "n_degraded": 0}
    answer = script.post(here, sent)
    assert answer.status_code == 202, answer.content
    plan = answer.json()
    design = plan["settings"]["design"]
    assert (design["n_workers"], plan["settings"]["difference"]) == (7, 12.5)
    assert design["n_systems"] == design["n_ordinary"] == campaign.systems.count()
    assert plan["pilot"] == str(run.pk)
    assert (plan["plan"], plan["findings"]) == (None, [])
    assert [each["id"] for each in script.get(here).json()["results"]] == [plan["id"]]
    refused = script.post(here, {"n_workers": 2, "workers_per_hit": 3})
    assert refused.status_code == 422
    assert "3 different workers" in refused.text
    own = script.post(f"{ROOT}plans/", {"difference": 8}).json()
    done = make_plan(PlanSettings(PlannedDesign(2, 6, 10, 8), 30, n_simulations=1))
    PowerAnalysis.objects.filter(pk=own["id"]).update(plan=done)
    assert script.get(f"{ROOT}plans/{own['id']}/").json()["findings"][0].startswith("With 6 workers")
    assert script.delete(f"{ROOT}plans/{own['id']}/").status_code == 409


def _file_run(owner: User, systems: str, title: str) -> AnalysisRun:
    content = ratings_csv(tuple(systems), n_sources=6)
    file = upload_ratings(owner=owner, upload=SimpleUploadedFile("r.csv", content), title=title)
    return finish(start_run(ratings_file=file, user=owner, settings=from_protocol("mrc-adequacy")))


def test_analyses_are_compared_as_on_the_page(script: Client, api: Api, owner: User, stranger: User) -> None:
    first, second = _file_run(owner, "abcde", "First"), _file_run(owner, "badce", "Second")
    address = f"{ROOT}compare/?first={first.pk}&second={second.pk}"
    found = script.get(address).json()
    agreement = compare_results(first.result, second.result)
    assert found["agreement"] == json.loads(json.dumps(asdict(agreement)))
    sections = {section.slug: section for section in comparison_sections(first.result, second.result, agreement)}
    assert [each["slug"] for each in found["sections"]] == list(sections)
    table = next(each for each in sections["agreement"].tables if Output.FILES in each.output)
    files = {each["path"]: each["url"] for each in found["files"]}
    assert script.get(files["tables/comparison.csv"]).text == to_csv(table)
    assert script.get(files["tables/comparison.tex"])["Content-Type"] == "application/x-tex"
    assert script.get(files["tables/comparison.xlsx"]).content.startswith(b"PK")
    assert script.get(files["figures/comparison-scatter.pdf"]).content.startswith(b"%PDF")
    assert not found["refused"] and not found["warnings"]
    assert api(stranger).get(address).status_code == 404
    assert api(stranger).get(files["tables/comparison.csv"]).status_code == 404


def test_more_analyses_are_compared_and_what_cannot_be_is_refused(script: Client, owner: User) -> None:
    first, second, third = (_file_run(owner, each, each) for each in ("abcd", "dcba", "wxyz"))
    several = script.get(f"{ROOT}compare/?first={first.pk}&second={second.pk}&more={third.pk},{first.pk}").json()
    assert "over-time" in {each["slug"] for each in several["sections"]}
    assert all(f"more={third.pk}" in each["url"] for each in several["files"])
    apart = script.get(f"{ROOT}compare/?first={first.pk}&second={third.pk}")
    assert (apart.status_code, apart.json()["code"]) == (422, "not_comparable")
    assert "share no system" in apart.json()["detail"]
    same = script.get(f"{ROOT}compare/?first={first.pk}&second={first.pk}")
    assert (same.status_code, "one and the same" in same.json()["detail"]) == (422, True)
    part = script.get(f"{ROOT}compare/?first={first.pk}&second={third.pk}&more={second.pk}").json()
    assert part["agreement"] is None and "share no system" in part["refused"]
    for query, field in ((f"first={first.pk}", "second"), (f"first={first.pk}&second={second.pk}&more=x", "more")):
        answer = script.get(f"{ROOT}compare/?{query}")
        assert answer.status_code == 422 and field in answer.json()["errors"]
    assert script.get(f"{ROOT}compare/files/tables/no.csv?first={first.pk}&second={second.pk}").status_code == 404
