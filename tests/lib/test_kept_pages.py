"""Pages that are rendered once, but for parts."""

import pytest
from django.template.loader import render_to_string
from django.test import override_settings
from django.utils.safestring import mark_safe

from evalsite.lib import kept_pages
from evalsite.lib.kept_pages import render_parts

TEMPLATE = "page.html"
SOURCE = "{{ title }}: {% if body %}<p>{{ body }}</p>{% endif %}{% if note %}<i>{{ note }}</i> {{ note }}{% endif %}"


@pytest.fixture(autouse=True)
def templates():
    loaders = [("django.template.loaders.locmem.Loader", {TEMPLATE: SOURCE})]
    engine = {"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {"loaders": loaders}}
    with override_settings(TEMPLATES=[engine]):
        yield
    kept_pages._pieces.cache_clear()


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"body": ""},
        {"body": "one"},
        {"body": "<b>&", "note": mark_safe("<b>bold</b>")},
        {"note": "{{ title }} body note"},
    ],
)
@pytest.mark.parametrize("title", ["First", "<second>"])
def test_a_page_is_what_its_template_renders_with_its_parts(title, parts):
    for _ in range(2):
        assert render_parts(TEMPLATE, {"title": title}, parts) == render_to_string(TEMPLATE, {"title": title} | parts)


def test_one_page_is_rendered_for_all_that_differ_in_parts_alone():
    pages = {render_parts(TEMPLATE, {"title": "First"}, {"body": f"text {k}"}) for k in range(9)}
    assert len(pages) == 9
    assert kept_pages._pieces.cache_info().misses == 1
