"""What a page offers to take back."""

from django import template
from django.http import HttpRequest

from evalsite.undo.acts import list_offers

register = template.Library()


@register.simple_tag(takes_context=True)
def undo_offers(context: template.Context) -> list[dict[str, str]]:
    """Return what can be taken back on this page; nothing on pages without a request, as those of errors."""
    request = context.get("request")
    return list_offers(request) if isinstance(request, HttpRequest) else []
