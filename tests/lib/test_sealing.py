"""Secrets at rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from evalsite.lib.errors import DomainError
from evalsite.lib.sealing import seal, unseal

SECRETS = {"api_key": "sk-0123456789", "token": "ключ 😀"}


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=["Cs"]))))
def test_what_is_sealed_comes_back(secrets: dict[str, str]) -> None:
    assert unseal(seal(secrets)) == secrets


def test_nothing_sealed_is_an_empty_text() -> None:
    assert seal({}) == ""
    assert unseal("") == {}


def test_a_sealed_secret_shows_neither_values_nor_names_nor_that_two_are_equal() -> None:
    sealed = seal(SECRETS)
    assert not any(word in sealed for word in ("sk-0", "api_key", "0123456789"))
    assert sealed != seal(SECRETS)


def test_another_key_does_not_open_it(settings: Settings) -> None:
    sealed = seal(SECRETS)
    settings.SECRET_KEY = "another one"
    with pytest.raises(DomainError) as refused:
        unseal(sealed)
    assert refused.value.code == "sealed_by_another_key"


def test_a_former_key_still_opens_it_and_no_longer_seals(settings: Settings) -> None:
    former = settings.SECRET_KEY
    sealed = seal(SECRETS)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another one", [former]
    assert unseal(sealed) == SECRETS
    anew = seal(SECRETS)
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal(anew) == SECRETS


@pytest.mark.parametrize(
    "change", [lambda s: s[:-2], lambda s: s[:20] + ("A" if s[20] != "A" else "B") + s[21:], str.lower]
)
def test_a_sealed_secret_that_was_changed_is_refused(change) -> None:
    with pytest.raises(DomainError):
        unseal(change(seal(SECRETS)))


@pytest.mark.parametrize("text", ["hello", "{}", "gAAAAA", "é", "\0"])
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(DomainError):
        unseal(text)
