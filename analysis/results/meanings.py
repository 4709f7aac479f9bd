"""What the numbers of results mean, for readers who are no statisticians: in a sentence or two, by their heading."""

import re
from typing import NamedTuple

from analysis.results.sections import Column, Table


class Meaning(NamedTuple):
    """What a number says, what is usual in the field, and whose rule that is; the last two may be empty."""

    text: str
    usual: str = ""
    source: str = ""


_ALPHA = (
    "From .8 on answers are reliable; from .667 they allow tentative conclusions. Ratings of texts are often lower.",
    "Krippendorff (2004), Content Analysis, ch. 11; Amidei et al. (2019), INLG",
)
_ICC = (
    "Below .5 poor, to .75 moderate, to .9 good, above excellent.",
    "Koo and Li (2016), Journal of Chiropractic Medicine 15(2)",
)
_KAPPA = (
    "Above .2 fair, .4 moderate, .6 substantial, .8 almost perfect.",
    "Landis and Koch (1977), Biometrics 33(1)",
)
_SAME = (
    "The share of answers to the same item that are the same. It is high by chance alone where one answer is common."
)
_INTERVAL = "One end of the 95 % interval: in 95 of 100 such studies the interval holds the true value."
_TEXTS = {
    "rank": Meaning("The place of the system by its score, the best first."),
    "ranks": Meaning("The places that the system may truly have, as far as its pairs with the others are decided."),
    "best rank": Meaning("The best place that the system may truly have, at 95 % for all systems together."),
    "worst rank": Meaning("The worst place that the system may truly have, at 95 % for all systems together."),
    "z": Meaning(
        "The mean of the ratings after each worker’s own mean and spread are taken out. 0 is an average output."
    ),
    "score": Meaning("What the systems are ranked by: the mean over all answers that count."),
    "mean": Meaning("The mean of all answers that count."),
    "penalty": Meaning("The mean weight of the errors that workers marked in a segment. Less is better."),
    "HTER": Meaning(
        "How many words people changed, for each 100 words of the corrected text. Less is better.",
        source="Snover et al. (2006), AMTA",
    ),
    "F": Meaning("How complete and how correct the output is, both in one number from 0 to 1 (harmonic mean)."),
    "ratio": Meaning("How many times as good as the average output, as workers’ numbers say (geometric mean)."),
    "share": Meaning("The share of answers that chose an option which counts as good."),
    "strength": Meaning(
        "How often the system wins, and against whom. A system that is ahead by 1 wins 73 % of their votes.",
        source="Bradley and Terry (1952), Biometrika 39",
    ),
    "with style": Meaning(
        "The strength of the system, had both outputs of each vote the same length and style.",
        source="Li, Angelopoulos and Chiang (2024), Does style matter?",
    ),
    "rank (with style)": Meaning("The place of the system by its strength with style in the model."),
    "coefficient": Meaning("How much more often an output wins that has more of the feature. 0: it does not matter."),
    "odds of twice": Meaning(
        "The odds of an output with twice as much of it, against one of an equal system. 1: it does not matter."
    ),
    "Elo": Meaning("The same kind of strength, updated vote by vote. 400 points ahead is 10 wins for each loss."),
    "Glicko-2": Meaning(
        "A strength like Elo’s that also knows how sure it is.",
        source="Glickman (2012), Example of the Glicko-2 system",
    ),
    "deviation": Meaning("How unsure the strength is; two deviations on each side are about a 95 % interval."),
    "volatility": Meaning("How erratic the results of the system are."),
    "advantage of the left": Meaning(
        "In the unit of strengths: above 0 the left wins more often, at 0 the order does not matter."
    ),
    "difference": Meaning("How far two things are apart: two systems’ scores, or two answers to the same item."),
    "low": Meaning(_INTERVAL),
    "high": Meaning(_INTERVAL),
    "p": Meaning(
        "How often chance alone would give a difference at least so large, if there were none.",
        "Below .05 counts as a difference, if only one pair is tested.",
    ),
    "p (Holm)": Meaning(
        "p after a correction for testing many pairs. Conclusions use this one.",
        "Below .05 the pair differs: a wrong difference anywhere comes in at most 5 of 100 studies.",
        "Holm (1979), Scandinavian Journal of Statistics 6(2)",
    ),
    "P(better)": Meaning(
        "The probability that an answer to one system is higher than one to the other; ties count half.",
        "0.5 is no difference.",
    ),
    "workers agree": Meaning("Whether the same answers come from different workers, or from one worker asked twice."),
    "same, %": Meaning(_SAME),
    "opposite, %": Meaning("The share of pairs of answers of which one prefers what the other rejects."),
    "difference, %": Meaning("How much of the longer text differs, in the mean over items."),
    "α nominal": Meaning(
        "Agreement beyond chance, where answers are the same or not. 1 is perfect, 0 is chance.", *_ALPHA
    ),
    "α ordinal": Meaning("Agreement beyond chance, where answers have an order. 1 is perfect, 0 is chance.", *_ALPHA),
    "α interval": Meaning(
        "Agreement beyond chance, where distances of answers count. 1 is perfect, 0 is chance.", *_ALPHA
    ),
    "α ratio": Meaning("Agreement beyond chance, where ratios of answers count. 1 is perfect, 0 is chance.", *_ALPHA),
    "α (MASI)": Meaning(
        "Agreement beyond chance on sets of options; sets that share some count in part. 1 is perfect, 0 is chance.",
        *_ALPHA,
    ),
    "ICC(2,1)": Meaning("How much of the spread of answers is due to the items, for the answer of one worker.", *_ICC),
    "ICC(2,k)": Meaning(
        "How much of the spread of means over all workers is due to the items: more workers, more of it.",
        *_ICC,
    ),
    "κ (Fleiss)": Meaning(
        "Agreement on categories beyond chance, of many workers. 1 is perfect, 0 is chance.", *_KAPPA
    ),
    "κ weighted": Meaning(
        "Agreement beyond chance of two answers, where near misses count less than far ones.", *_KAPPA
    ),
    "κ of characters": Meaning("Agreement beyond chance on whether each character is part of an error.", *_KAPPA),
    "F1 of marks": Meaning("How far two workers mark the same characters: 1 if all, 0 if none."),
    "F1 with severity": Meaning("F1 of marks, where characters count in part if the severity differs."),
    "overlap": Meaning("The share of errors of one worker that touch an error of the other."),
    "by chance": Meaning("The share that random answers would reach."),
    "reliability": Meaning(
        "How well the scores of systems would correlate with those of other workers, with so many workers.",
        "From .9 on a ranking hardly depends on who rated.",
        "Spearman (1910), Brown (1910), British Journal of Psychology 3",
    ),
    "same order": Meaning("In how many of the other ways of computing the systems have the same order."),
    "same best system": Meaning("In how many of them the same system is the best."),
    "pairs called otherwise": Meaning(
        "How many pairs differ in one way of computing, and do not, or the other way round, in another."
    ),
    "circular": Meaning("Triads in which A beats B, B beats C and C beats A: somebody answers without a clear order."),
    "ζ": Meaning(
        "Consistency: 1 if no triad is circular, 0 if as many are as can be.",
        source="Kendall and Babington Smith (1940)",
    ),
    "χ²": Meaning("How far the mean ranks of the systems are apart; compare p."),
    "df": Meaning("Degrees of freedom: the number of systems less one."),
    "Dawid–Skene": Meaning(
        "The share of a worker’s answers that are right, as a model of all answers says.",
        source="Dawid and Skene (1979), Applied Statistics 28(1)",
    ),
    "MACE": Meaning(
        "The probability that a worker answers what they know rather than guesses.", source="Hovy et al. (2013), NAACL"
    ),
    "undefined": Meaning("Workers whose answers were all the same, so that nothing can be correlated."),
    "n": Meaning("How many answers the number is from."),
    "95 % interval": Meaning("In 95 of 100 such studies the interval holds the true value. Bootstrap over items."),
    "raw": Meaning("The mean score as workers gave it, before each worker’s mean and spread are taken out."),
    "z of a criterion": Meaning("The mean z of the answers to this criterion alone. 0 is an average output."),
    "p of a worker": Meaning(
        "How often chance alone would put the worker’s degraded items so far below the others.",
        "Small is careful: below α the worker passes.",
    ),
    "compared": Meaning("How many pairs of an item and its degraded copy the worker test has of the worker."),
    "sd": Meaning("How far the worker’s scores are spread (standard deviation). 0: all were the same."),
    "reference mean": Meaning("The mean of the items that show the reference. In no score."),
    "reference distance": Meaning("The mean of reference items less that of ordinary ones: above 0 if all is well."),
    "p BH": Meaning(
        "p after a correction that bounds the share of wrong differences among those called.",
        "Below .05: at most 5 in 100 of them are wrong.",
        "Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57(1)",
    ),
    "p (sign test)": Meaning("How often fair coins would split the votes so unevenly. Ties are left out."),
    "β": Meaning(
        "How much the one rises in the mean, in its own standard deviations, when the other rises by one of its own.",
        "0 is no relation, 1 the closest.",
    ),
    "R²": Meaning("The share of the spread that the regression explains, from 0 to 1."),
    "cluster": Meaning("Systems of one cluster do not differ; each is better than all of the clusters below."),
    "median": Meaning("Half of the values lie below, half above."),
    "lower quartile": Meaning("A quarter of the values lies below."),
    "upper quartile": Meaning("A quarter of the values lies above."),
    "largest change": Meaning("How far the score moves at most when one worker is left out."),
    "least": Meaning("The lowest score when one worker is left out."),
    "greatest": Meaning("The highest score when one worker is left out."),
    "rankings": Meaning("In how many other ways the systems were ranked."),
    "circular, %": Meaning("Circular triads among those that are decided."),
    "by chance, %": Meaning("The share that random votes would reach."),
    "undecided": Meaning("Triads with a tie, which are neither circular nor not."),
    "low (independent)": Meaning(f"{_INTERVAL} It takes all votes as independent, and is too narrow."),
}
_MOST_NAMED = 4
_SAME_AS = {
    **dict.fromkeys(("p Holm", "after Holm"), "p (Holm)"),
    "P(row > column)": "P(better)",
    "mean z": "z",
    "high (independent)": "low (independent)",
    **dict.fromkeys(("low (with style)", "high (with style)"), "low"),
}
_PATTERNS = (
    (re.compile(r"κ of \d+"), Meaning("Agreement beyond chance, with scores put into so many classes.", *_KAPPA)),
    (re.compile(r".*, κ"), Meaning("The share beyond what chance gives. 1 is perfect, 0 is chance.", *_KAPPA)),
    (re.compile(r"largest change of .*"), Meaning("How far the number of any system moves at most.")),
    (re.compile(r".*, share"), Meaning("The share of two scores of the same that lie at most so far apart.")),
    (re.compile(r"(.* )?Q1"), Meaning("A quarter of the values lies below.")),
    (re.compile(r"(.* )?Q3"), Meaning("A quarter of the values lies above.")),
    (re.compile(r"≤ \d+"), Meaning("The score over sources that are at most so long.")),
    (re.compile(r"α = [\d.]+"), Meaning("The score when workers must pass the worker test at this level.")),
)


def meaning_of(column: Column) -> Meaning | None:
    """Return what the numbers of a column mean: by its heading, else its own hint; None where the heading says it."""
    name = _SAME_AS.get(column.name, column.name)
    if meaning := _TEXTS.get(name):
        return meaning
    matching = (meaning for pattern, meaning in _PATTERNS if pattern.fullmatch(name))
    own = Meaning(column.hint[:1].upper() + column.hint[1:] + ".") if column.hint else None
    return next(matching, own or (_TEXTS["p"] if column.is_p else None))


def meanings_of(table: Table) -> list[tuple[str, Meaning]]:
    """Return the headings of a table that need a word, with what they mean; headings that mean the same are one."""
    headings: dict[Meaning, list[str]] = {}
    for column in table.columns:
        if meaning := meaning_of(column):
            headings.setdefault(meaning, []).append(column.name)
    return [(_named(names), meaning) for meaning, names in headings.items()]


def _named(names: list[str]) -> str:
    """Return headings that mean the same; of many the first and the last."""
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} … {names[-1]}"
