"""Labels of items: the anaesthetists of Dawid & Skene, the examples of MACE, and what is not settled."""

import numpy as np
import pytest

from analysis.stats.labels import count_answers, dawid_skene, mace, majority

# Dawid & Skene 1979, Table 1: 45 patients; observer 1 three times, then observers 2 to 5.
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111
1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""
OBSERVER = [0, 0, 0, 1, 2, 3, 4]
# dirkhovy/MACE, README: sequences of parts of speech, an annotator each column, and what the program writes of them.
PARTS = ["N,,,N,P", "V,V,,V,", "A,,A,,O", ",V,,V,O", "N,,,N,P"]
COMPETENCE = [0.8820970950608722, 0.7904155783217401, 0.6598575839917008, 0.8822161621354134, 0.03114062354821738]
PROBABILITY = [0.9997443833265887, 0.9999961943848287, 0.9990184050335877, 0.9994950838119411, 0.9997443833265887]


def coded(lines, names):
    """Return item, worker and answer of lines of cells, a worker each, empty where there is no answer."""
    cells = [
        (item, worker, names.index(cell))
        for item, line in enumerate(lines)
        for worker, cell in enumerate(line.split(","))
        if cell
    ]
    return [np.array(each) for each in zip(*cells, strict=True)]


def test_the_anaesthetists_of_dawid_and_skene():
    patients = PATIENTS.split()
    item, worker = np.repeat(np.arange(45), 7), np.tile(OBSERVER, 45)
    answer = np.array([int(grade) - 1 for patient in patients for grade in patient])
    found = dawid_skene(item, worker, answer, 45, 5, 4)
    # Table 2 of the paper: p, and the first error rates of observer 1.
    assert found.marginal.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert found.confusion[0, :3].round(2).tolist() == [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0]]
    assert found.posterior.sum(axis=1) == pytest.approx(1)


def test_dawid_and_skenes_equations_are_those_of_loops():
    _, item, worker, answer, n_items, n_workers, n_labels = simulated(np.random.default_rng(8), n_items=25, n_workers=6)
    found = dawid_skene(item, worker, answer, n_items, n_workers, n_labels)
    confusion = np.zeros((n_workers, n_labels, n_labels))
    for k, w, given in zip(item, worker, answer, strict=True):
        confusion[w, :, given] += found.posterior[k]
    for w in range(n_workers):
        for label in range(n_labels):
            confusion[w, label] /= confusion[w, label].sum()
    for k in range(n_items):
        chance = found.posterior.mean(axis=0)
        for w, given in zip(worker[item == k], answer[item == k], strict=True):
            chance = chance * confusion[w, :, given]
        assert found.posterior[k] == pytest.approx(chance / chance.sum(), abs=1e-4)
    assert found.confusion == pytest.approx(confusion, abs=1e-4)


def test_mace_writes_the_competences_of_its_example():
    names = ["N", "P", "V", "A", "O"]
    found = mace(*coded(PARTS, names), 5, 5, 5)
    assert found.ability == pytest.approx(COMPETENCE, abs=1e-6)
    assert [names[label] for label in found.label] == ["N", "V", "A", "V", "N"]
    assert found.posterior.max(axis=1) == pytest.approx(PROBABILITY, abs=1e-6)


def simulated(rng, n_items=400, n_workers=12, n_labels=3):
    """Answers of workers who know 95 to 20 % of the labels, each item by five of them."""
    truth, knows = rng.integers(0, n_labels, n_items), np.linspace(0.95, 0.2, n_workers)
    worker = np.concatenate([rng.choice(n_workers, 5, replace=False) for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), 5)
    answer = np.where(rng.random(item.size) < knows[worker], truth[item], rng.integers(0, n_labels, item.size))
    return truth, item, worker, answer, n_items, n_workers, n_labels


def test_models_of_workers_label_better_than_the_majority_and_find_the_able_ones():
    truth, item, worker, answer, *sizes = simulated(np.random.default_rng(2))
    votes = majority(count_answers(item, answer, sizes[0], sizes[2]))
    for method in (dawid_skene, mace):
        found = method(item, worker, answer, *sizes)
        assert (found.label == truth).mean() > (votes == truth).mean()
        assert np.corrcoef(found.ability, np.linspace(0.95, 0.2, sizes[1]))[0, 1] > 0.9


def test_labels_do_not_depend_on_the_order_of_rows_or_names():
    rng = np.random.default_rng(6)
    _, item, worker, answer, *sizes = simulated(rng, n_items=60)
    order, names = rng.permutation(item.size), np.array([2, 0, 1])
    for method in (dawid_skene, mace):
        found = method(item, worker, answer, *sizes)
        other = method(item[order], worker[order], names[answer[order]], *sizes)
        assert other.posterior[:, names] == pytest.approx(found.posterior, abs=1e-5)


def test_a_majority_of_two_options_is_none_and_silent_workers_have_no_ability():
    assert majority(np.array([[2, 1, 0], [1, 1, 0], [0, 0, 0]])).tolist() == [0, -1, -1]
    item, worker, answer = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0, 0, 1])
    for method in (dawid_skene, mace):
        found = method(item, worker, answer, 2, 3, 2)
        assert np.isnan(found.ability).tolist() == [False, False, True]
        assert found.label.tolist() == [0, 1]
