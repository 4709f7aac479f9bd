"""Scores of single replies: means of chatbots over chats, each the mean of its replies."""

from typing import Any

import numpy as np

from analysis.data.ratings.replies import ReplyScores
from analysis.data.ratings.scales import FULL
from analysis.methods.clusters import in_words, with_several
from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.results.words import CORRECTED
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Mask, or_none
from analysis.stats.scores import rescale
from analysis.stats.segment_means import ClusteredMeans, clustered_means
from campaigns.design.composition import Kind
from evalsite.lib.words import counted


class Replies(Method):
    """What workers said of single replies, where they were asked."""

    slug = "replies"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `replies`, if single replies were rated: of each criterion `systems`, best first, and `pairs`."""
        replies, ratings = study.loaded.replies, study.ratings
        if replies is None or not study.order:
            return {}
        is_counted = study.analysis.is_kept[ratings.worker] & (ratings.kind == Kind.ORDINARY)
        rows = is_counted[replies.item]
        found = (_criterion(study, replies, rows, code) for code in np.unique(replies.criterion[rows]).tolist())
        return {self.slug: list(found)}

    def sections(self, result: Result) -> list[Section]:
        """Return the means of chatbots and the differences of every two, on each criterion."""
        found = result.own.get(self.slug)
        return [_section(found)] if found else []


def _criterion(study: Study, replies: ReplyScores, counted_rows: Mask, code: int) -> dict[str, Any]:
    """Return what was said of replies on a criterion, on 0–100 and reversed if it is negative."""
    ratings, criterion = study.ratings, study.asked[code]
    rows = counted_rows & (replies.criterion == code)
    scale = criterion.scale or study.settings.scale or FULL
    score = rescale(replies.score[rows], *scale)
    score = 100 - score if criterion.is_negative else score
    chat, of_chat, n_replies = np.unique(replies.item[rows], return_inverse=True, return_counts=True)
    mean = np.bincount(of_chat, weights=score) / n_replies
    groups = with_several({"worker": ratings.worker[chat], "chat": np.arange(chat.size)})
    found = clustered_means(mean, ratings.system[chat], ratings.n_systems, None, groups)
    order = sorted(study.order, key=lambda k: (np.isnan(found.mean[k]), -found.mean[k]))
    of_system = {
        "n_chats": np.bincount(ratings.system[chat], minlength=ratings.n_systems),
        "n_replies": np.bincount(ratings.system[chat], weights=n_replies, minlength=ratings.n_systems),
    }
    names = study.loaded.systems
    rated = [k for k in order if not np.isnan(found.mean[k])]
    return {
        "criterion": criterion.name,
        "clusters": dict(found.n_clusters),
        "systems": [
            {"system": names[k], "mean": or_none(found.mean[k]), "interval": _interval(found.low[k], found.high[k])}
            | {name: int(n[k]) for name, n in of_system.items()}
            for k in order
        ],
        "pairs": [_pair(names, found, i, j) for place, i in enumerate(rated) for j in rated[place + 1 :]],
    }


def _interval(low: float, high: float) -> list[float | None]:
    return [or_none(low), or_none(high)]


def _pair(names: list[str], found: ClusteredMeans, i: int, j: int) -> dict[str, Any]:
    pairs = found.pairs
    return {
        "systems": [names[i], names[j]],
        "difference": or_none(pairs.difference[i, j]),
        "interval": _interval(pairs.low[i, j], pairs.high[i, j]),
        "p": or_none(pairs.p_value[i, j]),
        "p_holm": or_none(pairs.holm[i, j]),
    }


def _section(found: list[Report]) -> Section:
    by = in_words(found[0]["clusters"])
    rows: list[list[Cell]] = [
        [each["criterion"], row["system"], row["mean"], *row["interval"], row["n_chats"], row["n_replies"]]
        for each in found
        for row in each["systems"]
    ]
    columns = [Column("criterion"), Column("system"), Column("mean", 1), Column("low", 1), Column("high", 1)]
    caption = (
        "Scores of single replies on 0–100, higher is better: the mean of a chat’s replies, averaged over chats of "
        f"workers who count. Low and high: 95 % interval; errors are clustered by {by}."
    )
    table = Table("replies", "Replies", caption, [*columns, Column("chats"), Column("replies")], rows, row_name=1)
    pairs: list[list[Cell]] = [
        [each["criterion"], *pair["systems"], pair["difference"], *pair["interval"], pair["p"], pair["p_holm"]]
        for each in found
        for pair in each["pairs"]
    ]
    of_pairs = [Column("criterion"), Column("system"), Column("other"), Column("difference", 1), Column("low", 1)]
    of_pairs += [Column("high", 1), Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    about = "Differences of these means. p is two-sided, corrected over the pairs of a criterion."
    p = [pair["p_holm"] for each in found for pair in each["pairs"]]
    n_decided = sum(each is not None and each < ALPHA for each in p)
    said = f"{n_decided} of {counted(len(p), 'difference')} between chatbots: {CORRECTED}."
    tables = [table, Table("replies-pairs", "Replies: pairs of systems", about, of_pairs, pairs)] if pairs else [table]
    return Section("replies", "Replies", said if pairs else "", tables, page="chats")
