"""Results that are compared: which ones, what they have in common, and the files of that."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import PurePosixPath

from analysis.models import AnalysisRun
from analysis.results.compare import Agreement, compare_results, comparison_sections
from analysis.results.compare_several import DatedResult, several_sections
from analysis.results.exports import figure_files, section_file, table_paths
from analysis.results.sections import Output, Section, Table
from analysis.results.words import method_title
from evalsite.lib.errors import DomainError

MOST_COMPARED = 12


@dataclass(frozen=True)
class ChosenResults:
    """The results that somebody has chosen to compare, as they may see them."""

    first: AnalysisRun | None
    second: AnalysisRun | None
    more: list[AnalysisRun] = field(default_factory=list)

    @property
    def runs(self) -> list[AnalysisRun]:
        """All of them, in order."""
        return [run for run in (self.first, self.second, *self.more) if run]


@dataclass(frozen=True)
class ResultsCompared:
    """What results have in common.

    `agreement`: of the first two, None if they cannot be compared; `refused`: why, "" if they can. `warnings`: which
    results are not independent of each other.
    """

    agreement: Agreement | None
    sections: list[Section]
    refused: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def file_tables(self) -> list[Table]:
        """The tables that there are files of."""
        return [table for section in self.sections for table in section.tables if Output.FILES in table.output]

    @property
    def files(self) -> list[tuple[str, str]]:
        """Path and title of every file of tables and figures."""
        tables = [(path, table.title) for table in self.file_tables for path in table_paths(table)]
        figures = [figure for section in self.sections for figure in section.figures]
        return [*tables, *((path, figure.title) for figure in figures for path in figure_files(figure))]


def compare_chosen(chosen: ChosenResults) -> ResultsCompared:
    """Return how far the first two results agree, and how systems fare over all of them."""
    first, second = chosen.first, chosen.second
    if first is None or second is None:
        return ResultsCompared(None, [])
    if first.pk == second.pk:
        return ResultsCompared(None, [], "These are one and the same result. Choose another one to compare it with.")
    titles = list(dict.fromkeys(method_title(run.result.settings.method) for run in chosen.runs))
    if len(titles) > 1:
        refused = f"Results of one response method are compared. These are of: {', '.join(titles)}."
        return ResultsCompared(None, [], refused)
    warnings = warn_of_shared_ratings(chosen.runs)
    several = several_sections(
        [DatedResult(run.ratings_file.title, run.ratings_file.uploaded_at, run.result) for run in chosen.runs]
    )
    try:
        agreement = compare_results(first.result, second.result)
    except DomainError as error:
        return ResultsCompared(None, several, error.message, warnings)
    is_independent = not _shared(first, second)
    sections = comparison_sections(first.result, second.result, agreement, is_independent=is_independent)
    return ResultsCompared(agreement, [*several, *sections], "", warnings)


def warn_of_shared_ratings(runs: Sequence[AnalysisRun]) -> list[str]:
    """Return a sentence for every two results that hold the same ratings, or ratings of one campaign."""
    numbered = list(enumerate(runs, start=1))
    return [
        f"Results {i} and {j} {shared}, so they are not independent of each other: their agreement says what other "
        "settings or more ratings change, not whether other workers would come to the same result."
        for (i, one), (j, other) in combinations(numbered, 2)
        if (shared := _shared(one, other))
    ]


def _shared(one: AnalysisRun, other: AnalysisRun) -> str:
    """Return what ratings two results share, as the end of a sentence; "" if they share none as far as is known.

    The same rows are found in whatever order and format they came.
    """
    files = one.ratings_file, other.ratings_file
    is_same_file = files[0].pk == files[1].pk or files[0].sha256 == files[1].sha256
    if is_same_file or (one.fingerprint and one.fingerprint == other.fingerprint):
        return "hold the same ratings"
    if files[0].campaign_id and files[0].campaign_id == files[1].campaign_id:
        return "are of the same campaign at two times: the later one holds the ratings of the earlier one"
    return ""


def comparison_content(found: ResultsCompared, chosen: ChosenResults, name: str) -> bytes | None:
    """Return the content of a file of a comparison: `tables/comparison.csv`, `figures/over-time.pdf` …

    A figure for dark pages ends in `-dark.svg`. None if there is no such file.
    """
    results = [run.result for run in chosen.runs]
    names = [name for result in results for name in (*result.systems, *result.criteria)]
    return section_file(found.sections, name, texts="".join(names))


def comparison_file_name(name: str) -> str:
    """Return what a file of a comparison is called when it is saved."""
    last = PurePosixPath(name).name
    return last if last.startswith("comparison") else f"comparison-{last}"
