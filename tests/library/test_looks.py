"""Looks at responses while they came: each is the analysis of the workers so far, in the order in which they came."""

import pandas
import pytest

import evalsite as ev
from evalsite.library import looks
from tests.library.test_analysis import EXAMPLES
from tests.library.test_four_ways import rows_with_style, settings_of
from tests.methods.test_by_groups import PROTOCOLS


@pytest.fixture(scope="module")
def result() -> ev.Analysis:
    return ev.analyse(EXAMPLES / "ratings.csv", "mrc-adequacy", brief=True)


def decided(analysis: ev.Analysis) -> set[tuple[str, ...]]:
    return {tuple(pair.systems) for pair in analysis.result.pairs if pair.differs}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_last_look_is_the_analysis_that_holds_at_every_look(protocol: str) -> None:
    data = ev.read(rows_with_style(protocol), settings_of(protocol))
    watched = ev.analyse(data, workers_planned=12, brief=True)
    found = watched.looks(every=4)
    n_workers = len(watched.workers)
    assert found.course["n_workers"] == [n for n in (4, 8, 12) if n < n_workers] + [n_workers]
    last = [row for row in found.pairs if row["n_workers"] == n_workers]
    assert {row["p_holm"] for row in last} == set(watched.pairs["p_holm"])
    assert {(row["better"], *{row["first"], row["second"]} - {row["better"]}) for row in last if row["better"]} == (
        decided(watched)
    )


def test_a_look_is_the_analysis_of_who_had_answered_by_then(result: ev.Analysis) -> None:
    workers = result.workers["worker"]
    order = workers[::-1]
    found = result.looks(order, every=30)
    assert found.course["n_workers"] == [30, 48]
    rows = pandas.read_csv(EXAMPLES / "ratings.csv", dtype={"worker": str})
    early = rows[rows["worker"].isin(order[:30])]
    alone = ev.analyse(early, "mrc-adequacy", workers_planned=48, brief=True)
    assert found.course["n_counted"][0] == sum(alone.workers["counts"])
    assert found.course["n_decided"][0] == len(decided(alone))
    differences = {frozenset(pair.systems): pair.difference for pair in alone.result.pairs}
    for row in found.pairs.to_dicts()[:15]:
        assert abs(row["difference"]) == pytest.approx(abs(differences[frozenset((row["first"], row["second"]))]))


def test_workers_come_as_in_the_file_unless_somebody_says_otherwise(result: ev.Analysis) -> None:
    rows = pandas.read_csv(EXAMPLES / "ratings.csv", dtype={"worker": str})
    turned = ev.analyse(rows.iloc[::-1], "mrc-adequacy", brief=True)
    names = rows["worker"].unique()[::-1]
    assert turned.looks(every=20).pairs.rows == result.looks(names, every=20).pairs.rows
    assert turned.looks(every=20).pairs.rows != result.looks(every=20).pairs.rows


def test_it_is_said_when_all_pairs_were_decided_or_how_many_are(result: ev.Analysis) -> None:
    rows = [
        {"worker": f"w{k}", "system": system, "source": f"d{k % 9}", "score": score + k % 3}
        for k in range(9)
        for system, score in (("a", 1), ("b", 4 - k % 2))
    ]
    found = ev.analyse(rows, brief=True).looks()
    assert found.n_needed is not None and 1 < found.n_needed < 9
    assert found.finding.startswith(f"After {found.n_needed} of 9 workers 1 pair of systems was decided")
    partly = result.looks(every=48)
    assert partly.n_needed is None and f"{partly.course['n_decided'][-1]} of 15 pairs" in repr(partly)
    assert partly.finding in partly._repr_html_()


def test_of_many_workers_there_are_not_too_many_looks(result: ev.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST_LOOKS", 5)
    assert result.looks().course["n_workers"] == [10, 20, 30, 40, 48]


def test_an_order_of_others_is_refused_in_a_sentence(result: ev.Analysis) -> None:
    workers = result.workers["worker"]
    with pytest.raises(ev.DomainError, match="“nobody” did not answer"):
        result.looks([*workers, "nobody"])
    with pytest.raises(ev.DomainError, match=f"“{workers[0]}” is left out"):
        result.looks(workers[1:])
    with pytest.raises(ev.DomainError, match="1 or more"):
        result.looks(every=0)


def test_without_a_column_of_workers_their_order_is_asked_for(
    result: ev.Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(result.data), "reading", None)
    with pytest.raises(ev.DomainError, match=r"Name them: looks\(order=\[…\]\)"):
        result.looks()
    assert result.looks(result.workers["worker"], every=48).course["n_workers"] == [48]
