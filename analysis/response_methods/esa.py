"""ESA: scores of segments by expert raters (Kocmi et al. 2024), averaged over raters, then over segments."""

from dataclasses import asdict
from math import nan
from typing import Any

from analysis.plain_scores.loading import PlainScores, load_plain_scores
from analysis.response_methods import Progress, Report, ResponseMethod, ResponsesFile
from analysis.response_methods.clusters import choose_document_or_segment, in_words
from analysis.response_methods.system_scores import (
    SystemScores,
    list_pairs,
    pairs_section,
    summarise_systems,
    systems_section,
)
from analysis.sections import Section
from analysis.settings import AnalysisSettings
from analysis.stats.segment_means import segment_means
from evalsite.lib.words import counted

CRITERION = "score"
_LOWEST, _HIGHEST = 0.0, 100.0


class Esa(ResponseMethod[PlainScores]):
    """The mean score of a segment, from 0 to 100."""

    slug = "esa"

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> PlainScores:
        """Return the scores of a file: rater, system, segment, document and score."""
        allowed = "a number from 0 to 100"
        return load_plain_scores(file.path, _read_score, allowed, criterion=CRITERION, encoding=file.encoding)

    def analyse(
        self,
        data: PlainScores,
        settings: AnalysisSettings,
        on_progress: Progress = lambda _: None,
        *,
        brief: bool = False,
    ) -> dict[str, Any]:
        """Return mean scores, and the differences of systems."""
        by = choose_document_or_segment(len(data.documents))
        groups = {by: data.document if by == "document" else data.segment}
        found = segment_means(data.score, data.system, data.segment, len(data.systems), groups)
        scores = SystemScores(
            data.systems,
            found.mean,
            found.low,
            found.high,
            found.n_segments,
            found.pairs,
            higher_is_better=True,
            criteria={CRITERION: found.mean},
        )
        summary = summarise_systems(self.slug, settings.protocol, scores) | {
            "n_raters": len(data.workers),
            "n_scores": int(data.score.size),
            "clusters": dict(found.n_clusters),
        }
        return {
            "summary": summary,
            "pairs": list_pairs(scores),
            "warnings": [asdict(warning) for warning in data.warnings],
            "notes": [
                "Intervals and tests take the raters as they are, and say nothing of how others would have scored."
            ],
            "settings": settings.to_json(),
            "fingerprint": data.fingerprint,
        }

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking and the pairs."""
        by = in_words(report["summary"]["clusters"])
        caption = (
            f"Mean score of a segment, averaged over its raters, then over segments. Errors are clustered by {by}."
        )
        return [
            systems_section(report, score="score", n="segments", caption=caption),
            pairs_section(report, caption="Differences of mean scores, the better system first."),
        ]

    def headline(self, report: Report) -> str:
        """Return how many scores there are."""
        summary = report["summary"]
        return f"{counted(summary['n_raters'], 'rater')} gave {counted(summary['n_scores'], 'score')}."


def _read_score(label: str) -> float:
    try:
        value = float(label)
    except ValueError:
        return nan
    return value if _LOWEST <= value <= _HIGHEST else nan
