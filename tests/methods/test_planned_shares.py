"""Simulated campaigns of shares: good answers, sensible and specific replies, facts, and words that are edited."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.planning.methods.choices import PlannedChoices
from analysis.planning.methods.edits import WORDS, PlannedEdits
from analysis.planning.methods.facts import FACTS, PlannedFacts
from analysis.planning.methods.replies import REPLIES, PlannedReplies
from analysis.planning.methods.shares import spread_of
from analysis.stats.designs import CHATS, TEXTS, PlannedDesign
from campaigns.design.composition import Kind, Layout

CAREFUL = replace(TEXTS, careless=0.0)
MANY = PlannedDesign(3, 3000, 3000, 30)
PLANNED = [PlannedChoices, PlannedReplies, PlannedFacts, PlannedEdits]


def good_answers(data):
    """Return what is good of what there is, of each answer, with its system."""
    answer = data.of["answer"].answer
    return answer, np.ones(answer.size), data.rows.system


def good_replies(data):
    """Return whether each answer about a reply is yes."""
    return data.score, np.ones(data.score.size), data.system


def right_facts(data):
    """Return numerator and denominator of F."""
    present, correct, missing = (data.numbers[name] for name in ("present", "correct", "missing"))
    return 2 * correct, present + correct + missing, data.system


def words_left(data):
    """Return words that are not edited, of all words."""
    return data.edits.n_words - data.edits.n_edits, data.edits.n_words, data.rows.system


GOOD = {PlannedChoices: good_answers, PlannedReplies: good_replies, PlannedFacts: right_facts, PlannedEdits: words_left}


@pytest.mark.parametrize("planned", PLANNED)
@pytest.mark.parametrize("difference", [4, 20])
def test_shares_differ_by_the_percentage_points_that_were_asked_for(rng, planned, difference):
    method = planned(difference)
    good, of, system = GOOD[planned](method.simulate(MANY, CAREFUL, rng))
    shares = [100 * good[system == code].sum() / of[system == code].sum() for code in range(3)]
    middle = 100 * method.middle
    assert shares == pytest.approx([middle + difference, middle, middle - difference], abs=2)
    assert -np.diff(shares) == pytest.approx([difference, difference], abs=2)  # three standard errors


@pytest.mark.parametrize("planned", PLANNED)
def test_more_workers_find_more(planned):
    design = PlannedDesign(3, 10, 400, 20)
    found = [planned(6).power(replace(design, n_workers=n), CAREFUL, n_simulations=30, seed=5) for n in (10, 40, 160)]
    assert found[0].power < found[1].power < found[2].power
    assert found[0].half_width > found[1].half_width > found[2].half_width
    assert 1 < found[1].half_width < 20  # in points, not as a share


@pytest.mark.parametrize("planned", PLANNED)
def test_equal_shares_are_found_as_often_as_the_test_errs_and_a_large_difference_mostly(planned):
    design = PlannedDesign(3, 30, 100, 20)
    assert 0.015 <= planned(0).power(design, CAREFUL, n_simulations=200, seed=4).power <= 0.09
    assert planned(25).power(design, CAREFUL, n_simulations=20, seed=4).power >= 0.9


def test_answers_of_one_worker_are_alike(rng):
    """How shares vary between workers follows from the correlation of scores: Φ₂ of equal thresholds."""
    data = PlannedChoices(0).simulate(PlannedDesign(2, 40, 4000, 100), CAREFUL, rng)
    by_worker = np.bincount(data.rows.worker, weights=data.of["answer"].answer) / 100
    correlation = CAREFUL.worker**2 / spread_of(CAREFUL) ** 2
    variance = np.arcsin(correlation) / (2 * np.pi) + 0.25 / 100
    assert by_worker.var() == pytest.approx(variance, rel=0.6)  # of 40 workers


def test_no_reply_is_specific_that_is_not_sensible(rng):
    data = PlannedReplies(5).simulate(MANY, CAREFUL, rng)
    sensible, specific = data.score.reshape(-1, 2).T
    assert not (specific > sensible).any()
    # Of Meena 87 % and 70 %; around a mean of 70 % the thresholds are as many standard deviations apart
    assert sensible.mean() - specific.mean() == pytest.approx(0.87 - 0.70, abs=0.05)


def test_replies_of_a_chat_are_rated_one_by_one(rng):
    design = PlannedDesign(4, 50, 2, 3, 1, layout=Layout.BY_SYSTEM, worker_test="unpaired-ranksum")
    method = PlannedReplies(5)
    model = method.model_for(design, None, 0.0)
    data = method.simulate(design, model, rng)
    assert model == replace(CHATS, careless=0.0)
    assert data.has_chats and np.bincount(data.document).tolist() == [2 * REPLIES] * 200
    assert (data.kind[data.system == 4] == Kind.DEGRADED).all()
    assert method.compared(design).n_degraded == REPLIES
    assert method.responses_of_item(design) == 2 * REPLIES
    found = method.power(design, model, n_simulations=5, seed=1)
    assert found.workers_counted > 30


def test_facts_and_words_are_as_many_as_the_guide_says(rng):
    facts = PlannedFacts(5).simulate(MANY, CAREFUL, rng).numbers
    assert (facts["correct"] + facts["missing"]).mean() == pytest.approx(FACTS, rel=0.03)
    assert facts["present"].mean() == pytest.approx(FACTS, rel=0.03)
    assert (facts["correct"] <= facts["present"]).all()
    edits = PlannedEdits(3).simulate(MANY, CAREFUL, rng).edits
    assert edits.n_words.mean() == pytest.approx(WORDS, rel=0.03)


@pytest.mark.parametrize(
    ("planned", "test", "n_degraded"),
    [(PlannedReplies, "sign", 16), (PlannedFacts, "paired-wilcoxon", 14), (PlannedEdits, "paired-wilcoxon", 14)],
)
def test_careless_workers_are_left_out(planned, test, n_degraded):
    design = PlannedDesign(3, 60, 100, 20, n_degraded, worker_test=test)
    method = planned(5)
    power = method.power(design, method.model_for(design, None, 0.5), n_simulations=10, seed=3)
    assert 26 <= power.workers_counted <= 36  # of 30 careful ones and 30 of whom one in twenty passes
