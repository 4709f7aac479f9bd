"""How far the pairs of systems of a campaign are decided, look after look: in sentences, a drawing and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.models import Look
from analysis.results.procedures import PAIRS_SHOWN, better_of
from analysis.results.sections import Column, Table
from campaigns.design.stopping import StoppingRule, describe_pairs
from campaigns.methods import methods
from campaigns.models import Campaign
from evalsite.lib.words import counted

_WIDTH, _HEIGHT, _MOST_BARS = 320, 60, 80
_CAPTION = (
    "A pair is decided when its difference is shown at 95 %, valid at every look and for all pairs together (Holm)."
)


@dataclass(frozen=True)
class Course:
    """The looks at a campaign: what they come to, the drawing of them, all looks, and the pairs at the last one."""

    sentences: list[str]
    bars: list[dict[str, Any]]
    ticks: list[str]
    table: Table
    pairs: Table | None
    width: int = _WIDTH
    height: int = _HEIGHT


def describe_course(campaign: Campaign, look: Look | None) -> list[str]:
    """Return in sentences how far the pairs were decided at the last look, and when the campaign closes by itself."""
    found = []
    if look:
        found.append(
            f"{look.n_decided:,} of {counted(look.n_pairs, 'pair')} of systems "
            f"{'is' if look.n_decided == 1 else 'are'} decided after {counted(look.n_assignments, 'assignment')}, "
            "valid whenever you look."
        )
    what = describe_pairs(campaign.stopping_rule, campaign.stopping_systems)
    if look and look.has_closed:
        return [*found, f"The campaign closed itself then, because {what} was decided."]
    if campaign.stopping_rule == StoppingRule.OFF or campaign.status == Campaign.Status.CLOSED:
        return found
    if what == "no pair" or (look and not look.n_wanted):
        return [*found, "The stopping rule names no pair of systems, so the campaign does not close by itself."]
    text = f"The campaign closes by itself as soon as {what} is decided, or when all HITs are finished."
    if look and look.n_wanted < look.n_pairs:
        n = look.n_wanted_decided
        text += f" {n:,} of these {counted(look.n_wanted, 'pair')} {'is' if n == 1 else 'are'} decided."
    return [*found, text]


def course_of(campaign: Campaign, looks: Sequence[Look]) -> Course | None:
    """Return the course of a campaign; None where there was no look and it has no stopping rule."""
    if not looks and campaign.stopping_rule == StoppingRule.OFF:
        return None
    last = next((look for look in looks if look.has_closed), looks[-1] if looks else None)
    sentences = describe_course(campaign, last)
    bars, ticks = _bars(looks)
    unit = methods[campaign.method].unit
    return Course(sentences, bars, ticks, looks_table(looks), _pairs_table(last, unit) if last else None)


def looks_table(looks: Sequence[Look]) -> Table:
    """Return all looks, a row each."""
    columns = ["finished assignments", "looked at", "workers who count", "pairs decided", "pairs"]
    columns += ["pairs decided of the stopping rule", "pairs of the stopping rule", "closed the campaign"]
    rows = [
        [
            *(look.n_assignments, f"{look.at:%Y-%m-%d %H:%M}", look.n_workers, look.n_decided, look.n_pairs),
            *(look.n_wanted_decided, look.n_wanted, "yes" if look.has_closed else "no"),
        ]
        for look in looks
    ]
    return Table(
        "looks", "Looks at the ratings", f"All looks so far; times are UTC. {_CAPTION}", [*map(Column, columns)], rows
    )


def _pairs_table(look: Look, unit: str) -> Table:
    """Return the pairs at one look, those of the stopping rule first; `unit`: what differences are in."""
    pairs = sorted(look.pairs, key=lambda pair: not pair["is_wanted"])
    has_others = 0 < look.n_wanted < look.n_pairs
    rows = [
        [
            f"{pair['systems'][0]} and {pair['systems'][1]}",
            _state(pair),
            *(pair["difference"], pair["low"], pair["high"], pair["p_holm"]),
            *(["yes" if pair["is_wanted"] else "no"] if has_others else []),
        ]
        for pair in pairs[:PAIRS_SHOWN]
    ]
    columns = [Column("Pair"), Column("So far"), Column("Difference", hint=f"{unit}, first system less second")]
    columns += [Column("low"), Column("high"), Column("p Holm", 4, is_p=True)]
    columns += [Column("Awaited", hint="whether the stopping rule waits for it")] if has_others else []
    first = f"The first {PAIRS_SHOWN} of {len(pairs):,} pairs. " if len(pairs) > PAIRS_SHOWN else ""
    return Table("look-pairs", "Pairs at the last look", first + _CAPTION, columns, rows)


def _state(pair: dict[str, Any]) -> str:
    # Looks of before are of z alone
    known = (pair["systems"], pair["difference"], pair["p_holm"])
    better = pair["better"] if "better" in pair else better_of(*known)
    return f"{better} is better" if better else "undecided"


def _bars(looks: Sequence[Look]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a bar of each look, as high as the share of pairs that was decided; of very many, an even choice."""
    if not any(look.n_decided for look in looks):
        return [], []
    step = -(-len(looks) // _MOST_BARS)
    shown = list(reversed(list(reversed(looks))[::step]))
    width = _WIDTH / max(len(shown), 8)
    bars = [
        {
            "x": round(k * width, 1),
            "y": round(_HEIGHT * (1 - look.n_decided / max(look.n_pairs, 1)), 1),
            "width": round(width - 1, 1),
            "height": round(_HEIGHT * look.n_decided / max(look.n_pairs, 1), 1),
            "title": f"{look.n_decided} of {look.n_pairs} decided after {counted(look.n_assignments, 'assignment')}",
        }
        for k, look in enumerate(shown)
    ]
    return bars, [f"{shown[0].n_assignments:,}", f"{shown[-1].n_assignments:,} finished"] if len(shown) >= 8 else []
