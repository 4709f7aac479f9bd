"""The texts that a worker reads, as images."""

from django.http import HttpRequest, HttpResponse

from annotation.queries import get_assignment, items_of
from annotation.text_images import draw, find_image, stems_in
from annotation.views.framed import for_workers, protect, stop_page

# Its content never changes; the browser keeps it for as long as a HIT takes.
_CACHE = "private, max-age=3600, immutable"


@for_workers("GET", "HEAD")
def image(request: HttpRequest, token: str, name: str) -> HttpResponse:
    """Send an image of the item that is to be rated, or of the one before or after it. One query."""
    assignment = get_assignment(token)
    # Those of the last item may still be under way when it has been rated.
    items, position = items_of(assignment), assignment.position
    near = [items[k] for k in (position - 1, position, position + 1) if k in items]
    found = find_image(near, assignment.campaign, stems_in(assignment), name)
    if found is None or assignment.is_accessible:
        return stop_page("bad_token", campaign=assignment.campaign)
    part, variant = found
    png = draw(part, variant, secret=f"{assignment.pk} {part.key}")
    response = protect(HttpResponse(png, content_type="image/png"), assignment.campaign)
    response["Cache-Control"] = _CACHE
    return response
