"""Votes rated as in a running arena: Elo and Glicko-2, in the order of the file."""

from typing import Any

import numpy as np

from analysis.methods.strengths import Votes
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.stats.arena import elo, glicko2

_GAMES_IN_PERIOD = 15  # of each system in the mean, as Glickman recommends
SCORE = np.array([1.0, 0.0, 0.5])
"""What the left output gets of a vote, by `Outcome`."""


def rate_as_arenas(votes: Votes, systems: list[str]) -> list[dict[str, Any]]:
    """Return Elo and Glicko-2 ratings in the order of the file, best Elo first."""
    score = SCORE[votes.outcome]
    rating = elo(votes.left, votes.right, score, len(systems))
    period = max(1, _GAMES_IN_PERIOD * len(systems) // 2)  # a vote is a game of two
    glicko = glicko2(votes.left, votes.right, score, len(systems), period=period)
    return [
        {
            "system": systems[code],
            "elo": float(rating[code]),
            "glicko2": float(glicko.rating[code]),
            "deviation": float(glicko.deviation[code]),
            "volatility": float(glicko.volatility[code]),
        }
        for code in np.argsort(-rating, kind="stable")
    ]


def arena_section(rows: list[Report]) -> Section:
    """Return the ratings of `rate_as_arenas`."""
    cells: list[list[Cell]] = [
        [row["system"], row["elo"], row["glicko2"], row["deviation"], row["volatility"]] for row in rows
    ]
    columns = [
        Column("system"),
        Column("Elo", 1),
        Column("Glicko-2", 1),
        Column("deviation", 1),
        Column("volatility", 4),
    ]
    caption = (
        "Ratings after each vote in the order of the file, as a running arena has them; another order gives others."
    )
    table = Table("arena", "Elo and Glicko-2", caption, columns, cells)
    return Section("arena", "Elo and Glicko-2", tables=[table] if rows else [])
