"""The share of thumbs up of each system: an analysis method in one file."""

from evalsite.analysis.data.loading import load_scores
from evalsite.analysis.data.responses import Responses
from evalsite.analysis.methods import Progress, ResponseMethod, ResponsesFile, unwatched
from evalsite.analysis.methods.settings import AnalysisSettings
from evalsite.analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section
from evalsite.analysis.results.result import Result
from evalsite.analysis.results.sections import Section
from evalsite.analysis.stats.segment_means import segment_means

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
        self, data: Responses, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return the shares, with intervals clustered by worker, and every two systems compared."""
        clusters = {"worker": data.worker}
        found = segment_means(data.score, data.system, data.segment, len(data.systems), clusters)
        shares = SystemScores.of(data.systems, found, found.n_segments)
        return Analysed(settings, shares, data).result()

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking and the pairs."""
        caption = "Share of thumbs up of an output, averaged over its workers, then over outputs."
        return [
            systems_section(result, score="share", n="outputs", caption=caption),
            pairs_section(result, caption="Differences of shares, the better system first."),
        ]
