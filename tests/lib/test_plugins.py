"""Registries of plug-ins, which several threads may be the first to ask."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.utils.module_loading import import_string

from evalsite.lib import plugins
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry


class First:
    slug = "first"


class Second:
    slug = "second"


PATHS = [f"{__name__}.First", f"{__name__}.Second"]


def test_who_asks_while_another_thread_imports_finds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[Any] = Registry("kind", PATHS)
    asked: list[Any] = []

    def import_slowly(path: str) -> Any:
        if path == PATHS[1] and not asked:
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
        Registry("kind", PATHS)["third"]
    assert refused.value.code == "unknown_kind"
