"""Registries of plug-ins, which several threads may be the first to ask."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils.module_loading import import_string

from evalsite.lib import plugins
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry


class First:
    slug = "first"


class Second:
    slug = "second"


NAMES = [f"{__name__}.First", f"{__name__}.Second"]


@pytest.fixture(autouse=True)
def kinds(settings: LazySettings) -> None:
    settings.KINDS = NAMES


def test_who_asks_while_another_thread_imports_finds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[Any] = Registry("kind", "KINDS")
    asked: list[Any] = []

    def import_slowly(path: str) -> Any:
        if path == NAMES[1] and not asked:
            asked.append(None)
            with ThreadPoolExecutor(1) as other:
                asked[0] = other.submit(registry.__getitem__, "second").result()
        return import_string(path)

    monkeypatch.setattr(plugins, "import_string", import_slowly)
    assert registry["first"].slug == "first"
    assert asked[0].slug == "second"
    assert list(registry) == ["first", "second"]


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(DomainError, match=r"There is no kind “third”\. Choose one of: first, second") as refused:
        Registry("kind", "KINDS")["third"]
    assert refused.value.code == "unknown_kind"


def test_apps_of_a_wheel_are_found_in_its_package_by_the_names_they_have_in_a_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert plugins.place_of("campaigns.urls") == "campaigns.urls"
    monkeypatch.setattr(plugins, "IS_INSTALLED", True)
    assert plugins.place_of("campaigns.urls") == "evalsite.campaigns.urls"
    assert plugins.place_of("openpyxl") == "openpyxl"


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("evalsite.analysis.results.curves.draw", "analysis.results.curves.draw"),
        ("analysis.results.curves.draw", "analysis.results.curves.draw"),
        ("evalsite.lib.words.join", "evalsite.lib.words.join"),
        ("evalsite.analysis_of_others", "evalsite.analysis_of_others"),
    ],
)
def test_stored_names_are_those_of_a_checkout(place: str, name: str) -> None:
    assert plugins.name_of(place) == name
