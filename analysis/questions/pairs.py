"""What other procedures conclude of every two systems, beside the comparison that the method recommends (METHOD §5)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.questions import Asked, Question
from analysis.results.procedures import (
    ComparedByProcedures,
    ComparedPair,
    conclusions,
    other_conclusions,
    procedure_tables,
)
from analysis.results.sections import Section
from analysis.results.words import PROCEDURES
from analysis.stats.exchanged_preferences import compare_preferences
from analysis.stats.inference import Comparison
from analysis.stats.procedures import ALPHA, SEED, Procedure, Procedures, ScoreColumns, compare_beside, compare_by
from analysis.stats.ratings import or_none
from analysis.stats.significance import compare_systems
from campaigns.contracts.result_pages import PAIRS
from evalsite.lib.words import counted, listed

Ways = Mapping[Procedure, Callable[[], Comparison]]
_NAMES = {name: title for name, (title, _) in PROCEDURES.items()}
_NAMES[Procedure.STUDIES] = "the rank-sum test of the studies (not corrected)"
_NOTHING = "it takes two workers and two sources or more, and answers that are not all the same"


@dataclass(frozen=True, kw_only=True)
class PairsByProcedures(ComparedByProcedures):
    """The pairs, the difference above 0 where the first is better; `unavailable`: why a procedure says nothing."""

    unavailable: Mapping[Procedure, str]


class Pairs(Question[PairsByProcedures]):
    """What crossed random effects, exchanged labels and the test of the studies say of each pair."""

    slug = "procedures"
    title = "What other procedures conclude"
    page = PAIRS
    answer = PairsByProcedures

    def is_asked(self, asked: Asked) -> bool:
        """Whether the result does not say it itself, as that of a study does, and there is one look only."""
        return asked.result.recommended is None and not asked.settings.workers_planned

    def refuse(self, asked: Asked) -> str:
        """Return that single outputs are not known."""
        if (said := super().refuse(asked)) or asked.comparisons() is not None:
            return said
        outputs = asked.outputs()
        if outputs is None:
            return "It is not known which outputs the answers are of, so no other procedure compares systems."
        if not outputs.over_criteria(asked.order)[0].size:
            return "No worker judged an output on every criterion, so no other procedure compares systems."
        return ""

    def compute(self, asked: Asked) -> PairsByProcedures:
        """Return the result's pairs with the other procedures, and of scores with the rank-sum test."""
        compared, outputs = asked.comparisons(), asked.outputs()
        p_studies = None
        if compared is not None:
            beside = compare_beside(*_ways_of_comparisons(compared, asked.order))
        else:
            assert outputs is not None, "refused"
            columns = outputs.over_criteria(asked.order)
            beside = compare_beside(*_ways_of_scores(columns, len(asked.order)))
            p_studies = compare_systems(columns[0], columns[1], len(asked.order)).p_value
        beside = _without_undefined(beside)
        pairs = []
        for pair in asked.result.pairs:
            i, j = map(asked.order.index, pair.systems)
            pairs.append(
                ComparedPair(
                    systems=pair.systems,
                    difference=None if pair.difference is None else asked.result.sign * pair.difference,
                    p_holm=pair.p_holm,
                    p_studies=None if p_studies is None else (or_none(p_studies[i, j]), or_none(p_studies[j, i])),
                    others=other_conclusions(beside, i, j),
                )
            )
        return PairsByProcedures(alpha=ALPHA, pairs=pairs, unavailable=beside.refused)

    def sections(self, answer: PairsByProcedures) -> list[Section]:
        """Return what each procedure concludes, and on which pairs they disagree."""
        return [Section(self.slug, self.title, _finding(answer), procedure_tables(answer), page=self.page)]


def _ways_of_scores(columns: ScoreColumns, n_systems: int) -> tuple[Ways, int, int]:
    others = (Procedure.CROSSED, Procedure.PERMUTED)
    return {each: partial(compare_by, each, columns, n_systems) for each in others}, columns[0].size, n_systems


def _ways_of_comparisons(compared: ComparedPairs, order: Sequence[str]) -> tuple[Ways, int, int]:
    place = {name: k for k, name in enumerate(order)}
    code = np.array([place.get(name, -1) for name in compared.systems], np.int64)
    kept = compared.take((code[compared.first] >= 0) & (code[compared.second] >= 0))

    def exchange() -> Comparison:
        systems = code[kept.first], code[kept.second]
        rng = np.random.default_rng(SEED)
        return compare_preferences(*systems, kept.outcome, kept.worker, kept.source, len(order), rng)

    return {Procedure.PERMUTED: exchange}, kept.first.size, len(order)


def _without_undefined(beside: Procedures) -> Procedures:
    """Return the procedures that say something of some pair; the others are refused."""
    silent = [name for name, of in beside.found.items() if np.isnan(of.holm).all()]
    found = {name: of for name, of in beside.found.items() if name not in silent}
    return Procedures(found, {**beside.refused, **dict.fromkeys(silent, _NOTHING)})


def _finding(answer: PairsByProcedures) -> str:
    """Return of how many pairs other procedures conclude otherwise, and why some say nothing."""
    concluded, said = [list(conclusions(pair, answer.procedure).items()) for pair in answer.pairs], []
    n_otherwise = {
        name: sum(of_pair[k][1] != of_pair[0][1] for of_pair in concluded)
        for k, (name, _) in enumerate(concluded[0] if concluded else [])
        if k  # the first is the recommended comparison
    }
    if n_otherwise:
        parts = [f"{_NAMES[name]} of {n or 'none'}" for name, n in n_otherwise.items()]
        said.append(f"Of {counted(len(concluded), 'pair')}, other procedures conclude otherwise: {listed(parts)}.")
    unavailable = answer.unavailable
    said += [f"{_NAMES[name].capitalize()}: {unavailable[name]}." for name in Procedure if name in unavailable]
    return " ".join(said)
