"""Systems in groups of ratings, such as domains of sources, by the z of single ratings."""

from typing import Any

import numpy as np

from analysis.data.responses import rows_of
from analysis.methods.by_groups import GroupedScores, describe_groups, groups_sections
from analysis.methods.clusters import with_several
from analysis.methods.study import Method, Report
from analysis.methods.study.study import Study
from analysis.results.sections import Section
from analysis.stats.pipeline import counted_ratings
from analysis.stats.scores import counted_items


class Groups(Method):
    """Mean z of systems in the groups that were asked for, and whether differences of systems depend on them."""

    slug = "groups"

    def first_detail(self, study: Study) -> dict[str, Any]:
        """Return `groups`, as `by_groups.describe_groups` has them; nothing if none were asked for.

        A rating of an unknown source depends on no other one by its source.
        """
        if not study.settings.groups:
            return {}
        counted = counted_ratings(study.ratings, study.settings.design(study.loaded.workers), study.analysis)
        items = counted_items(study.ratings, study.analysis.is_kept)
        has_z = ~np.isnan(counted.z)
        alone = counted.source.max(initial=-1) + 1 + np.arange(counted.source.size)
        source = np.where(counted.source < 0, alone, counted.source)[has_z]
        worker = counted.worker[has_z]
        is_known = bool((counted.source >= 0).any())
        found = GroupedScores(
            counted.z[has_z],
            counted.system[has_z],
            study.loaded.systems,
            study.order,
            with_several({"worker": worker} | ({"source": source} if is_known else {})),
            rows_of(study.loaded.attributes, items[has_z]),
        )
        return {self.slug: describe_groups(found)}

    def detail(self, study: Study) -> dict[str, Any]:
        """Return the same."""
        return self.first_detail(study)

    def sections(self, report: Report) -> list[Section]:
        """Return the groups, if any were asked for."""
        return groups_sections(report, score="z")
