"""Metrics against people: which metrics rank systems, and judge outputs, as the ratings of a study do (METHOD §7)."""

from typing import Any

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.metrics.meta_evaluation import evaluate_metrics, people_of
from analysis.questions.metrics import metric_sections
from analysis.results.sections import Section
from analysis.results.stored import Report


class Metrics(Method):
    """How far each metric that a study has scores of agrees with its human scores."""

    slug = "metrics"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `metrics`, as `evaluate_metrics` does; nothing where the study has no scores of metrics."""
        return {self.slug: evaluate_metrics(people_of(study), study.metrics)} if study.metrics else {}

    def sections(self, report: Report) -> list[Section]:
        """Return what `metric_sections` shows of them."""
        return metric_sections(report.get(self.slug))
