"""Results as JSON: what `json` writes, but sooner."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.results.exports import dump_json

_TEXT = st.text(st.characters(codec="utf-8"))
_SINGLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_DOCUMENTS = st.recursive(_SINGLE, lambda of: st.lists(of) | st.dictionaries(_TEXT, of), max_leaves=40)


@given(_DOCUMENTS)
def test_every_document_has_the_bytes_that_json_gives_it(document):
    assert dump_json(document) == json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def test_no_document_has_numbers_that_json_has_not():
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_json({"p": float("nan")})
