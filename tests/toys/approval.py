"""The share of thumbs up of each system: an analysis method in one file."""

from typing import Any

from analysis.data.loading import load_scores
from analysis.data.responses import Responses
from analysis.methods import Progress, Report, ResponseMethod, ResponsesFile
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import (
    SystemScores,
    list_pairs,
    pairs_section,
    summarise_systems,
    systems_section,
)
from analysis.results.sections import Section
from analysis.stats.segment_means import segment_means

_THUMBS = {"0": 0.0, "1": 1.0}


class Approval(ResponseMethod[Responses]):
    """The share of thumbs up, averaged over the workers of an output, then over outputs."""

    slug = "approval"
    title = "Approval"
    summary = "The share of thumbs up of each system."

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the thumbs of a file."""
        return load_scores(file.path, lambda cell: _THUMBS.get(cell, float("nan")), "0 or 1", criterion="thumb")

    def analyse(
        self,
        data: Responses,
        settings: AnalysisSettings,
        on_progress: Progress = lambda _: None,
        *,
        brief: bool = False,
    ) -> dict[str, Any]:
        """Return the shares, with intervals clustered by worker, and every two systems compared."""
        clusters = {"worker": data.worker}
        found = segment_means(data.score, data.system, data.segment, len(data.systems), clusters)
        of_systems = data.systems, found.mean, found.low, found.high, found.n_segments, found.pairs
        shares = SystemScores(*of_systems, higher_is_better=True)
        return {
            "summary": summarise_systems(self.slug, settings, shares),
            "pairs": list_pairs(shares, settings),
            "warnings": [],
            "notes": [],
            "settings": settings.to_json(),
            "fingerprint": data.fingerprint,
        }

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking and the pairs."""
        caption = "Share of thumbs up of an output, averaged over its workers, then over outputs."
        return [
            systems_section(report, score="share", n="outputs", caption=caption),
            pairs_section(report, caption="Differences of shares, the better system first."),
        ]
