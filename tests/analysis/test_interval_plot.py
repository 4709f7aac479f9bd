"""Where the interval plot draws systems."""

import pytest

from analysis.methods.system_scores import draw_scores, draw_stacked
from analysis.results.interval_plot import plot_figure, plot_ranking
from analysis.results.sections import Figure, Picture
from analysis.results.values import RankedSystem, Ranking


def row(name: str, z: float | None, low: float | None = None, high: float | None = None) -> RankedSystem:
    return RankedSystem(1, name, 1, 1, 1, z, low, high, 50.0, [], False, None)


def plotted(*rows: RankedSystem):
    return plot_ranking(Ranking([], "outputs", list(rows)))


def test_everything_is_inside_and_in_order() -> None:
    plot = plotted(row("a", 0.4, 0.2, 0.6), row("b", -0.5, -0.9, 0.1), row("c", None))
    first, second, third = plot.rows
    assert 0 < second.low_at < second.score_at < plot.zero_at < first.low_at < first.score_at < first.high_at < 100
    assert (third.score_at, third.low_at, plot.has_intervals) == (None, None, True)
    assert [tick.text for tick in plot.ticks] == ["−0.5", "0.0", "0.5"]
    assert all(0 <= tick.at <= 100 for tick in plot.ticks)


@pytest.mark.parametrize("width", [1e-6, 0.013, 1.0, 7.5, 400.0])
def test_there_are_two_to_five_ticks_at_any_width(width: float) -> None:
    ticks = plotted(row("a", 3.0), row("b", 3.0 + width)).ticks
    assert 1 <= len(ticks) <= 5
    assert len({tick.text for tick in ticks}) == len(ticks)


def test_one_system_or_none_has_a_place_without_intervals() -> None:
    plot = plotted(row("a", 0.0))
    assert (plot.rows[0].score_at, plot.has_intervals) == (plot.zero_at, False)
    assert plotted(row("a", None)) is None


def test_scores_of_other_kinds_are_drawn_in_the_page_and_other_figures_are_files() -> None:
    rows = [
        {"system": "a", "score": 1012.0, "interval": [1000.0, 1020.0]},
        {"system": "b", "score": 988.5, "interval": None},
    ]
    plot = plot_figure(Figure("systems", "Systems", Picture.of(draw_scores, rows, "Elo"), "Elo of each system"))
    assert (plot.label, plot.unit, [row.score for row in plot.rows]) == ("Elo", "", [1012.0, 988.5])
    assert plot.rows[1].score_at < plot.rows[0].low_at < plot.rows[0].score_at
    bars = Picture.of(draw_stacked, ["a"], [("good", [1.0])], "answers, %")
    assert plot_figure(Figure("bars", "Bars", bars, "Bars")) is None
