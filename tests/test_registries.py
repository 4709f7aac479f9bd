"""Nothing but the registries asks which protocol, response kind, format, method, platform or connector it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

ROOT = Path(settings.BASE_DIR)
APPS = ("evalsite", "campaigns", "annotation", "analysis", "crowd", "api", "desk")
REGISTRIES = ("PROTOCOLS", "RESPONSES", "FORMATS", "PLATFORMS", "CONNECTORS", "RESPONSE_METHODS")
NAMES = {"protocol", "response", "response_kind", "format", "output_format", "method", "platform", "connector", "slug"}
# A default is written down once, and looked up by the registry like any other.
SLUGS = {import_string(path).slug for name in REGISTRIES for path in getattr(settings, f"EVALSITE_{name}")}


def comparisons(code: str) -> Iterator[int]:
    """Yield the lines that compare something of these names with a slug, or choose by it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject, *(part for case in node.cases for part in ast.walk(case.pattern))]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
            sides = [node.slice, *(key for key in node.value.keys if key)]
        else:
            continue
        if any(_is_named(side) for side in sides) and any(_has_slug(side) for side in sides):
            yield node.lineno


def _is_named(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in NAMES) or (isinstance(node, ast.Name) and node.id in NAMES)


def _has_slug(node: ast.AST) -> bool:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return any(isinstance(value, str) and value in SLUGS for value in constants)


@pytest.mark.parametrize("app", APPS)
def test_nothing_asks_which_plug_in_it_is(app: str) -> None:
    files = (path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in comparisons(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'if campaign.protocol == "qg": pass',
        'if criterion.response in ("slider", "scale"): pass',
        'x = 1 if "mturk" != platform else 2',
        'match report.method:\n    case "preference": pass',
        'if screen.output_format == "dialogue": pass',
        'words = {"slider": "sliders"}[criterion.response]',
    ],
)
def test_a_seeded_comparison_is_noticed(code: str) -> None:
    assert list(comparisons(code)) == [1]


def test_other_comparisons_are_none_of_it() -> None:
    assert list(comparisons('if kind == "text" or request.method == "POST": pass')) == []
