"""A response method is a file and a line: a toy one is read, analysed, printed and written."""

import json
import re

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.methods import DEFAULT, ResponseMethod, get_method, list_response_methods, method_of
from analysis.methods.settings import from_json, from_protocol
from analysis.methods.system_scores import Analysed, SystemScores, systems_section
from analysis.stats.pairs import compare_pairs
from campaigns.methods import reads
from campaigns.protocols import list_protocols
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry
from evalsite.lib.tables import read_columns


class Counts(ResponseMethod):
    """How many thumbs up each system has: the smallest method there is."""

    slug = "counts"
    title = "Thumbs"

    def read(self, file, settings):
        table = read_columns(file.path, ["system", "thumbs"], numeric=["thumbs"])
        return table.text["system"], table.numbers["thumbs"]

    def analyse(self, data, settings, on_progress=lambda _: None, *, brief=False):
        system, thumbs = data
        names, n = system.labels, np.bincount(system.codes)
        mean = np.bincount(system.codes, weights=thumbs) / n
        unknown = np.full(mean.size, np.nan)
        pairs = compare_pairs(mean, np.full((mean.size, mean.size), np.nan), np.inf)
        scores = SystemScores(names, mean, unknown, unknown, n, pairs, True, {"thumbs": mean})
        return Analysed(settings, scores).result()

    def sections(self, result):
        return [systems_section(result, score="thumbs", n="answers", caption="Mean thumbs.")]


@pytest.fixture
def toy(tmp_path, monkeypatch, settings):
    """Register the toy method; return a file of responses and a protocol's file."""
    settings.EVALSITE_RESPONSE_METHODS = [f"{__name__}.Counts", "analysis.methods.spans.Spans"]
    registry = Registry("method", "EVALSITE_RESPONSE_METHODS")
    monkeypatch.setattr("analysis.methods._methods", registry)
    monkeypatch.setattr("analysis.methods.settings.methods", registry)
    responses, protocol = tmp_path / "thumbs.csv", tmp_path / "toy.json"
    responses.write_text("system,thumbs\nash,1\nash,0\nbirch,1\nbirch,1\n")
    protocol.write_text(json.dumps({"method": "counts"}))
    return responses, protocol


def test_a_method_is_one_class_and_one_line_of_settings(toy, analyse, tmp_path):
    responses, protocol = toy
    found = json.loads(analyse(responses, protocol=str(protocol), format="json", out=tmp_path / "out")[0])
    assert found["method"] == "counts" and found["higher_is_better"] is True
    assert [(row["system"], row["score"], row["rank"]) for row in found["systems"]] == [
        ("birch", 1, 1),
        ("ash", 0.5, 2),
    ]
    assert found["criteria"] == {"thumbs": {"birch": 1.0, "ash": 0.5}}
    assert (tmp_path / "out" / "tables" / "systems.csv").read_text().splitlines()[1].startswith("1,birch,1")
    assert (tmp_path / "out" / "figures" / "systems.svg").stat().st_size > 1000
    assert r"birch & 1.00" in analyse(responses, protocol=str(protocol), format="latex")[0]


def test_what_a_method_does_not_take_is_refused(toy, analyse):
    responses, protocol = toy
    with pytest.raises(CommandError, match="“worker-test” says nothing about counts"):
        analyse(responses, protocol=str(protocol), worker_test="none")
    with pytest.raises(DomainError, match="has no option “colour”"):
        from_json({"method": "counts", "options": {"colour": 1}})
    with pytest.raises(DomainError, match="There is no method “telepathy”"):
        from_json({"method": "telepathy"})


def test_a_method_without_tests_of_pairs_is_compared_by_its_scores(toy, analyse):
    responses, protocol = toy
    again = json.loads(analyse(responses, protocol=str(protocol), compare=responses, format="json")[0])["replication"]
    assert again["systems"] == ["birch", "ash"] and again["same_conclusions"] == {"0.1": None, "0.05": None}


def test_settings_survive_being_written():
    settings = from_json({"protocol": "mqm", "options": {"weights": {"major": 10}}})
    assert (settings.method, settings.options) == ("spans", {"weights": {"major": 10}})
    assert from_json(settings.to_json()) == settings
    assert "method" not in from_protocol("qg").to_json()  # as stored before there were others


def test_reports_of_before_are_of_direct_assessment():
    assert method_of({}).slug == method_of({"protocol": "qg"}).slug == DEFAULT
    assert get_method(DEFAULT).has_criteria
    assert all(method.slug for method in list_response_methods())


def test_methods_of_protocols_read_what_their_criteria_ask():
    assert from_protocol("mqm").method == "spans"
    for protocol in list_protocols():
        method = get_method(protocol.method)
        assert any(reads(type(method), criterion) for criterion in protocol.criteria), protocol.slug


def test_nothing_but_the_registry_asks_which_method_it_is(settings):
    for folder in ("analysis", "annotation", "api", "campaigns", "crowd", "desk"):
        for path in (settings.BASE_DIR / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"if [\w.]*\b(settings|campaign|run)\.(method|protocol) [!=]=", text), path


def test_a_command_of_scores_refuses_other_responses(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("worker,system_a,system_b,winner\nw,A,B,a\n")
    with pytest.raises(CommandError, match="there is no column “score”"):
        call_command("metrics", str(path), str(path))


def test_every_method_says_what_people_call_it_and_what_it_reads_of_a_campaign():
    methods = list_response_methods()
    assert all(method.title and method.summary and method.table for method in methods)
    assert len({method.title for method in methods}) == len(methods)
