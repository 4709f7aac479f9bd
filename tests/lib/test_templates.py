"""Libraries of tags are imported when a template loads them, and what a page has shown is let go of."""

import gc
import subprocess
import sys
import weakref

import pytest
from django.template import TemplateSyntaxError, engines
from django.template.backends.django import get_installed_libraries
from django.template.library import InvalidTemplateLibrary
from django.test import RequestFactory

from campaigns.templatetags import hits
from evalsite.lib.templates import LateLibraries, Templates

PARAMETERS = {"NAME": "django", "DIRS": [], "APP_DIRS": False}


def test_there_are_the_libraries_that_django_finds():
    templates = Templates(PARAMETERS | {"OPTIONS": {}})
    assert templates.engine.libraries.items() >= get_installed_libraries().items()
    assert set(templates.engine.template_libraries) == set(templates.engine.libraries)
    assert len(templates.engine.template_libraries) == len(templates.engine.libraries)
    assert "results" in templates.engine.libraries


def test_a_template_that_loads_one_imports_that_one():
    code = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
import django
django.setup()
from django.template import engines
engines["django"].from_string("{% load words %}")
print(*sorted(name for name in sys.modules if ".templatetags." in name))
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [name for name in printed.split() if not name.startswith("django.")] == ["campaigns.templatetags.words"]


def test_one_that_there_is_not_is_said_with_those_that_there_are():
    with pytest.raises(TemplateSyntaxError, match=r"(?s)'wrods' is not a registered.* Must be one of:.*\bwords\b"):
        engines["django"].from_string("{% load wrods %}")


def test_a_module_without_tags_is_said_when_it_is_loaded():
    libraries = LateLibraries({"late": "evalsite.lib.late"})
    with pytest.raises(InvalidTemplateLibrary, match=r"evalsite\.lib\.late"):
        _ = libraries["late"]


def test_a_name_of_two_modules_is_warned_of_and_settings_win():
    templates = Templates(PARAMETERS | {"OPTIONS": {"libraries": {"words": "campaigns.templatetags.hits"}}})
    [warning] = templates.check()
    assert warning.id == "templates.W003"
    assert warning.msg.endswith(": 'campaigns.templatetags.hits', 'campaigns.templatetags.words'")
    assert templates.engine.template_libraries["words"] is hits.register
    assert engines["django"].check() == []


def test_what_a_template_has_shown_is_freed_without_a_collection_of_garbage():
    class Shown:
        """Something that a reference may be weak to."""

    gc.disable()
    try:
        shown = Shown()
        left = weakref.ref(shown)
        text = (
            engines["django"]
            .from_string("{% with other=shown %}{{ word }}{% endwith %}")
            .render({"shown": shown, "word": "here"}, RequestFactory().get("/"))
        )
        del shown
        assert (text, left()) == ("here", None)
    finally:
        gc.enable()
