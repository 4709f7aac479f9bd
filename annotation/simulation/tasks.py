"""What the database knows of an assignment and its worker's pages do not show."""

from django.urls import resolve

from annotation.queries import criteria_of, get_assignment
from annotation.simulation.crowd import Item
from annotation.simulation.visitor import Task
from campaigns.design.composition import Kind
from campaigns.models import HitItem


def look_up_task(path: str) -> Task:
    """Return the task whose page is at a path; raise DomainError `bad_token`. Three queries.

    In a live campaign each chat is a source of its own.
    """
    assignment = get_assignment(resolve(path).kwargs["token"])
    number, campaign = assignment.hit.number, assignment.campaign
    rows = HitItem.objects.filter(hit=assignment.hit_id).values_list(
        "position", "output__source__name", "output__system__name", "kind"
    )
    items = {
        position: Item(
            number, position, f"{source} {number}.{position}" if campaign.is_live else source, system, Kind(kind)
        )
        for position, source, system, kind in rows
    }
    sliders = [f"score_{criterion.pk}" for criterion in criteria_of(campaign)]
    return Task(assignment.pk, items, sliders, campaign.chat_rules.min_inputs if campaign.is_live else 0)
