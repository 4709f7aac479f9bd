"""Contrasts between the chats of the public run: which chat is which item's, and what is said of groups."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.dialogues.loading import load_dialogues
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_json, load_settings
from analysis.methods.study.contrasts import Contrasts
from analysis.methods.study.study import run_study
from analysis.results.result import Result
from evalsite.lib.errors import DomainError

PAIRS = {f"{name}p": name for name in "ABCDE"}


@pytest.fixture(scope="module")
def study(shared_data):
    folder, settings = shared_data / "dialogue-run1", replace(load_settings("dialogue-free"), personas=PAIRS)
    loaded = load_ratings(folder / "ratings.csv", criteria=settings.criterion_names)
    return run_study(loaded, settings, dialogues=load_dialogues(folder / "dialogues.csv"))


@pytest.fixture(scope="module")
def found(study):
    return Contrasts().detail(study)["contrasts"]


def test_every_chat_of_workers_who_passed_is_in_a_group(study, found):
    kept = {study.loaded.workers[code] for code in np.flatnonzero(study.analysis.is_kept)}
    opinions = [chat.opinion for chat in study.dialogues.chats if chat.worker in kept and chat.system != "qc"]
    assert found["opinion"]["n"] == [opinions.count(name) for name in found["opinion"]["groups"]]
    assert sum(found["opinion"]["n"]) == sum(found["persona"]["n"]) == 1075
    assert sum(found["change"]["n"]) == 0  # the public run does not have changes of topic


def test_pairs_of_chatbots_have_the_scores_of_the_ranking(study, found):
    z = {name: float(value) for name, value in zip(study.loaded.systems, study.analysis.systems.z, strict=True)}
    for pair in found["personas"]:
        having, lacking = pair["systems"]
        assert PAIRS[having] == lacking
        assert pair["mean"] == pytest.approx([z[lacking], z[having]], abs=1e-9)
        assert pair["difference"][1] == pytest.approx(z[having] - z[lacking], abs=1e-9)


def test_what_differs_is_said_in_words(found):
    (section,) = Contrasts().sections(Result(own={"contrasts": found}))
    low, difference, high = (found["persona"][key][1] for key in ("low", "difference", "high"))
    assert low < difference < high < 0
    assert (
        f"Chatbots with a persona score {-difference:.2f} z lower than the same chatbots without one."
        in section.finding
    )
    assert [table.name for table in section.tables] == ["contrasts", "personas"] and section.figures


def test_without_chats_and_personas_there_is_nothing(study):
    alone = replace(study, dialogues=None, settings=replace(study.settings, personas={}))
    assert Contrasts().detail(alone) == {} and Contrasts().sections(Result()) == []


def test_personas_of_a_protocol_are_read_and_written():
    settings = from_json({"criteria": ["fun"], "personas": {"Ap": "A"}})
    assert from_json(settings.to_json()) == settings and settings.personas == {"Ap": "A"}
    with pytest.raises(DomainError, match="“personas” must be an object"):
        from_json({"criteria": ["fun"], "personas": ["A"]})
