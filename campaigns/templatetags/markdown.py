"""`{% load markdown %}{{ text|markdown }}`: a text in Markdown as safe HTML."""

from django import template
from django.utils.safestring import SafeString

from evalsite.lib.markdown import render_markdown

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Return a text in Markdown as safe HTML."""
    return render_markdown(text)
