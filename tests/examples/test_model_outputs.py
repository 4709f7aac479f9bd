"""The outputs of language models and agents: as their scripts write them, complete, of the shape that is promised."""

import csv
import json
from collections import Counter

import pytest

from campaigns import examples as listed
from campaigns.services.campaigns import create_campaign
from campaigns.services.examples import import_outputs, read_example
from evalsite.jobs.running import run_job
from examples.agents import traces
from examples.llm import answers

EXAMPLES = ((listed.LLM, answers), (listed.AGENTS, traces))
WORDS = range(40, 201)


def rows_of(script):
    with script.OUTPUTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


each_example = pytest.mark.parametrize(("example", "script"), EXAMPLES, ids=[each.folder for each, _ in EXAMPLES])


@each_example
def test_the_script_reproduces_the_table_byte_for_byte(example, script, tmp_path):
    written = tmp_path / "outputs.csv"
    script.main(written)
    assert written.read_bytes() == script.OUTPUTS.read_bytes()


@each_example
def test_each_system_of_known_quality_has_an_output_of_its_own_for_each_source(example, script):
    rows = rows_of(script)
    assert list(rows[0]) == script.COLUMNS
    sources, systems = {row["source_id"] for row in rows}, set(read_example(example, "quality.json"))
    pairs = Counter((row["source_id"], row["system"]) for row in rows)
    assert pairs == {(source, system): 1 for source in sources for system in systems}
    outputs = {(row["source_id"], row["output"]) for row in rows}
    assert len(outputs) == len(rows) and all(output.strip() for _, output in outputs)


@pytest.mark.django_db(transaction=True)
@each_example
def test_topics_are_imported_as_attributes_of_the_sources(owner, example, script):
    campaign = create_campaign(owner=owner, protocol="preference", name="Outputs")
    run_job(import_outputs(campaign, owner, example).pk)
    topics = {row["source_id"]: {"topic": row["topic"]} for row in rows_of(script)}
    assert dict(campaign.sources.values_list("name", "attribute_values")) == topics


def test_answers_have_the_length_that_is_promised():
    words = {(row["source_id"], row["system"]): len(row["output"].split()) for row in rows_of(answers)}
    sources = {source for source, _ in words}
    assert len(sources) == 24
    assert [source for source in sources if words[source, "careful"] not in WORDS] == []
    assert all(words[source, "brief"] < words[source, "careful"] < words[source, "wordy"] for source in sources)


def test_every_kind_of_markup_is_in_the_answers():
    texts = [row["output"] for row in rows_of(answers) if row["system"] == "careful"]
    for mark in ("1. ", "- ", "|---|", "```", "$$", "**"):
        assert sum(mark in text for text in texts) >= 5, mark


def test_what_makes_an_answer_wrong_must_be_in_it():
    answer = {"id": "a", "text": "Two.\n\n- One\n- Two", "wrong": [["Three", "Four"]]}
    with pytest.raises(ValueError, match="Three"):
        answers.sloppy(answer)


@pytest.fixture(scope="module")
def agents():
    """The steps of each trace and the number of its first wrong step, by task and agent."""
    return {
        (row["source_id"], row["system"]): (json.loads(row["output"]), int(row["wrong_step"] or 0))
        for row in rows_of(traces)
    }


def test_every_trace_is_a_list_of_steps_and_an_answer(agents):
    assert len(agents) == 16 * len(traces.AGENTS)
    for steps, _ in agents.values():
        *called, last = steps
        assert called and list(last) == ["answer"] and last["answer"]
        for step in called:
            assert list(step) == ["thought", "call", "result", "seconds", "cost"]
            assert list(step["call"]) == ["tool", "arguments"]
            assert step["call"]["tool"] and isinstance(step["call"]["arguments"], dict)
            assert step["thought"] and step["result"] and step["seconds"] > 0 and step["cost"] > 0


def done(steps):
    return [step.get("call", step) for step in steps]


def test_traces_go_as_planned_until_their_first_wrong_step(agents):
    for (task, agent), (steps, wrong) in agents.items():
        planned = done(agents[task, "planner"][0])
        if agent == "planner":
            assert wrong == 0
            continue
        assert 1 <= wrong <= len(steps), (task, agent)
        if agent == "looper":
            assert done(steps)[wrong - 2] == done(steps)[wrong - 1], task
        else:
            assert done(steps)[wrong - 1] not in planned, (task, agent)
            assert all(step in planned for step in done(steps)[: wrong - 1]), (task, agent)


def test_words_that_a_fault_replaces_must_be_in_a_step():
    step = {"thought": "I look.", "call": {"tool": "look", "arguments": {"at": "a"}}, "result": "b"}
    assert traces.swap([step], [("b", "c")], "task")[0]["result"] == "c"
    with pytest.raises(ValueError, match="task: “d”"):
        traces.swap([step], [("d", "e")], "task")
