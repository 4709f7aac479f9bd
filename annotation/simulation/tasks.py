"""What the database knows of an assignment and its worker's pages do not tell."""

from django.urls import resolve

from annotation.queries import criteria_of, get_assignment
from annotation.simulation.crowd import Item
from annotation.simulation.visitor import Task
from campaigns.design.composition import Kind
from campaigns.models import HitItem


def look_up_task(path: str) -> Task:
    """Return the task whose page is at a path; raise DomainError `bad_token`. Three queries."""
    assignment = get_assignment(resolve(path).kwargs["token"])
    number = assignment.hit.number
    rows = HitItem.objects.filter(hit=assignment.hit_id).values_list(
        "position", "output__source__name", "output__system__name", "kind"
    )
    items = {position: Item(number, position, source, system, Kind(kind)) for position, source, system, kind in rows}
    return Task(assignment.pk, items, [f"score_{criterion.pk}" for criterion in criteria_of(assignment.campaign)])
