"""Reading scores of metrics, and what they are computed from. Access is checked with the run or the campaign."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.shortcuts import get_object_or_404

from analysis.metrics.kinds import Data, Texts
from analysis.metrics.loading import SegmentScores, combine, load_segment_scores
from analysis.metrics.meta_evaluation import OutputApart
from analysis.models import AnalysisRun, MetricScores, RatingsFile
from campaigns.contracts.protocol import Screen
from campaigns.data_queries import SOURCES_PER_PAGE
from campaigns.formats import get_format
from campaigns.models import Campaign, Output, Source
from evalsite.lib.errors import DomainError

_CHUNK = 10_000
_FIELD, _SYSTEM = "field:", "system:"


def scores_of(ratings_file: RatingsFile) -> QuerySet[MetricScores]:
    """Return the scores that belong to a ratings file: of its campaign if it is a snapshot, newest first."""
    own = {"campaign": ratings_file.campaign_id} if ratings_file.campaign_id else {"ratings_file": ratings_file}
    return MetricScores.objects.filter(**own).select_related("job", "created_by")


def list_ready_scores(ratings_file: RatingsFile) -> QuerySet[MetricScores]:
    """Return the scores that an analysis which begins now compares with people, oldest first."""
    return scores_of(ratings_file).filter(finished_at__isnull=False).order_by("created_at", "pk")


def get_scores_of(run: AnalysisRun, scores_id: UUID) -> MetricScores:
    """Return scores that belong to the ratings of a run; raise Http404 for any other."""
    return get_object_or_404(scores_of(run.ratings_file), pk=scores_id)


def load_scores(scores: MetricScores) -> SegmentScores:
    """Return the scores of a file; raise TableError if they cannot be read."""
    path = Path(scores.file.path)
    return load_segment_scores(path, has_metrics=True, name=scores.name, encoding=scores.encoding)


def load_scores_of(run: AnalysisRun) -> SegmentScores | None:
    """Return what all metrics say that a run compares with people; None without any. Those removed are left out."""
    wanted = list_ready_scores(run.ratings_file).filter(pk__in=run.metrics)
    found = [load_scores(scores) for scores in wanted]
    return combine(found) if found else None


def find_waiting_run(run: AnalysisRun) -> AnalysisRun | None:
    """Return the newest run changed from this one, or from those changed from it, that is not ready. One query."""
    later = run.ratings_file.runs.filter(created_at__gt=run.created_at, finished_at=None)
    return later.select_related("job", "ratings_file__campaign").defer("report", "first_report").first()


@dataclass(frozen=True)
class ReferenceChoice:
    """What may be the reference: `value` as it is stored, `label` for people."""

    value: str
    label: str


def list_references(campaign: Campaign) -> list[ReferenceChoice]:
    """Return what the outputs of a campaign may be compared with, the most likely first. One query.

    That is a field of the sources, or the outputs of a system, such as those that people wrote. None where outputs are
    dialogues, or said in live chats.
    """
    screen = Screen.from_json(campaign.screen)
    if campaign.is_live or not get_format(screen.output_format).is_one_text:
        return []
    fields = [
        ReferenceChoice(f"{_FIELD}{f.name}", f"{f.label} (of each source)")
        for f in screen.fields
        if get_format(f.format).is_one_text
    ]
    systems = list(campaign.systems.filter(is_degraded=False).values_list("pk", "name", "is_human"))
    written = [ReferenceChoice(f"{_SYSTEM}{pk}", f"What {name} wrote") for pk, name, _ in systems]
    human = next((f"{_SYSTEM}{pk}" for pk, _, is_human in systems if is_human), "")
    likely = f"{_FIELD}{screen.reference_field}" if screen.reference_field else human
    return sorted([*fields, *written], key=lambda choice: choice.value != likely)


def describe_data(campaign: Campaign) -> Data | None:
    """Return which texts metrics can be computed of; None of a live campaign, which has no outputs. One query."""
    if campaign.is_live:
        return None
    screen = Screen.from_json(campaign.screen)
    dialogues = [each.name for each in screen.fields if get_format(each.format).of_dialogue == "whole"]
    return Data(
        {each.name: each.label for each in screen.fields if get_format(each.format).is_one_text},
        dialogues[0] if dialogues else "",
        screen.output_format,
        bool(list_references(campaign)),
    )


def describe_computable(ratings_file: RatingsFile) -> tuple[list[ReferenceChoice], Data | None]:
    """Return what may be the reference, and which texts metrics can be computed of; None where outputs are not known.

    Two queries at most.
    """
    campaign = ratings_file.campaign
    return (list_references(campaign), describe_data(campaign)) if campaign else ([], None)


def has_likely_reference(campaign: Campaign) -> bool:
    """Tell whether the first of `list_references` is known to be a reference. One query at most."""
    return bool(Screen.from_json(campaign.screen).reference_field) or campaign.systems.filter(is_human=True).exists()


def read_texts(campaign: Campaign, reference: str) -> Texts:
    """Return the words of the outputs of a campaign, in the order of sources and systems, with their references.

    Of texts with markup these are without it, as their format says. Outputs of the system whose texts are the
    references have none, since they would be compared with themselves. Without a `reference` no output has one;
    otherwise raises DomainError `no_references` if none has. Four queries.
    """
    screen = Screen.from_json(campaign.screen)
    words = get_format(screen.output_format).words
    formats = {each.name: get_format(each.format) for each in screen.fields}
    systems = sorted(campaign.systems.filter(is_degraded=False).values_list("name", "pk"))
    sources: list[tuple[str, int, Mapping[str, str]]] = sorted(
        campaign.sources.values_list("name", "pk", "fields"), key=lambda row: row[0]
    )
    place_of_source = {pk: place for place, (_, pk, _) in enumerate(sources)}
    place_of_system = {pk: place for place, (_, pk) in enumerate(systems)}
    rows = Output.objects.filter(source__campaign=campaign, system__is_degraded=False).order_by()
    found = rows.values_list("source_id", "system_id", "text").iterator(chunk_size=_CHUNK)
    outputs = sorted((place_of_source[source], place_of_system[system], words(text)) for source, system, text in found)
    of_sources: list[Mapping[str, str]] = [
        {name: formats[name].words(str(text or "")) if name in formats else text for name, text in fields.items()}
        for _, _, fields in sources
    ]
    if reference.startswith(_SYSTEM):
        of_references = place_of_system.get(int(reference.removeprefix(_SYSTEM)), -1)
        texts = {source: text for source, system, text in outputs if system == of_references}
    else:
        of_references, name = -1, reference.removeprefix(_FIELD)
        texts = {place: str(fields.get(name) or "") for place, fields in enumerate(of_sources)}
    references = [texts.get(source, "") if system != of_references else "" for source, system, _ in outputs]
    if reference and not any(text.strip() for text in references):
        raise DomainError(
            "no_references", "No output has a reference. Choose another part of the data as the reference."
        )
    source, system = (np.array([row[k] for row in outputs], np.int64) for k in (0, 1))
    return Texts(
        [name for name, _ in systems],
        [name for name, _, _ in sources],
        system,
        source,
        [text for _, _, text in outputs],
        references,
        of_sources,
        describe_data(campaign) or Data(),
    )


@dataclass(frozen=True)
class Disagreement:
    """An output on which a metric and people disagree, with its texts as far as they are known.

    `place_human` and `place_metric` are in per cent of all outputs, 100 is best. `page` and `anchor` lead to it among
    the campaign's data.
    """

    system: str
    source: str
    z: float
    score: float
    place_human: float
    place_metric: float
    text: str = ""
    reference: str = ""
    page: int = 0
    anchor: str = ""


def list_disagreements(campaign: Campaign | None, rows: Sequence[OutputApart]) -> list[Disagreement]:
    """Return the disagreements of a report; of a campaign with the outputs and references. Two queries at most."""
    known = _known_texts(campaign, rows) if campaign and not campaign.is_live else {}
    return [
        Disagreement(
            *(row.system, row.source, row.z, row.score, 100 * row.place_human, 100 * row.place_metric),
            **known.get((row.source, row.system), {}),
        )
        for row in rows
    ]


def _known_texts(campaign: Campaign, rows: Iterable[OutputApart]) -> dict[tuple[str, str], dict[str, Any]]:
    wanted = Q()
    for row in rows:
        wanted |= Q(source__name=row.source, system__name=row.system)
    if not wanted:
        return {}
    before = Source.objects.filter(campaign=campaign, pk__lt=OuterRef("source_id")).order_by().values("campaign")
    n_before = Subquery(before.annotate(n=Count("pk")).values("n"))
    outputs = Output.objects.filter(wanted, source__campaign=campaign).select_related("source", "system")
    reference = Screen.from_json(campaign.screen).reference_field
    return {
        (output.source.name, output.system.name): {
            "text": output.text,
            "reference": str(output.source.fields.get(reference) or ""),
            "page": (output.n_before or 0) // SOURCES_PER_PAGE + 1,
            "anchor": f"source-{output.source_id}",
        }
        for output in outputs.annotate(n_before=n_before)
    }
