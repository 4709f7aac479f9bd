"""Each gate of `make test` refuses a seeded violation."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path

import grimp
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import models

ROOT = Path(settings.BASE_DIR)
TOOLS = Path(sys.executable).parent
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]


def copy_sources(to):
    """Copy the sources, and what the type checker remembers of them, if anything."""
    for name in (
        "evalsite",
        "campaigns",
        "annotation",
        "analysis",
        "crowd",
        "api",
        "desk",
        "simulators",
        "benchmarks",
        "static",
    ):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.?tf"))
    for name in ("pyproject.toml", "manage.py"):
        shutil.copy(ROOT / name, to / name)
    if (ROOT / ".mypy_cache").exists():
        shutil.copytree(ROOT / ".mypy_cache", to / ".mypy_cache")
    return to


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the sources that each test spoils in a file of its own."""
    return copy_sources(tmp_path_factory.mktemp("spoilt"))


def passes(folder, *command, **options):
    tool = [str(TOOLS / command[0]), *command[1:]]
    return subprocess.run(tool, cwd=folder, capture_output=True, text=True, **options).returncode == 0


# The beginning of a contract's name, a module, and what it must not import.
VIOLATIONS = [
    ("Apps import downwards", "evalsite.jobs.models", "campaigns.protocols"),
    ("Statistics know", "analysis.stats.scores", "django"),
    ("Statistics know", "analysis.stats.scores", "analysis.methods.settings"),
    ("HIT building knows", "campaigns.design.plan", "campaigns.contracts.protocol"),
    ("Text images know", "annotation.images.layout", "django"),
    ("Inside the analysis", "analysis.data.votes", "analysis.methods.preference"),
    ("Inside the pages of the analysis", "analysis.web.queries.ratings_files", "analysis.web.services.runs"),
    ("The command line", "analysis.methods.study.report", "analysis.models"),
    ("Sections are numbers", "analysis.methods.study.dialogue", "django"),
    ("Inside the campaigns", "campaigns.queries", "campaigns.services.hits"),
    ("Inside the campaigns", "campaigns.services.contents", "campaigns.forms.data"),
    ("Inside the campaigns", "campaigns.models", "campaigns.checklist"),
    ("Inside the annotation", "annotation.services.ratings", "annotation.views.worker"),
    ("Inside the annotation", "annotation.queries", "annotation.services.assignments"),
    ("Inside the crowd", "crowd.services.payments.orders", "crowd.views.payments"),
    ("Inside the crowd", "crowd.queries.publishing", "crowd.services.publishing"),
    ("Apps import downwards", "crowd.queries.account", "desk.storage"),
    ("Inside the desk", "desk.storage", "desk.forms"),
    ("Simulators know no app", "simulators.ledger", "django"),
    ("Simulators know no app", "simulators.faults", "crowd.models"),
    ("Reading files and building HITs", "campaigns.importing.contents", "campaigns.models"),
    ("Reading files and building HITs", "campaigns.building.texts", "django"),
    ("Plug-ins import", "campaigns.protocols.qg", "evalsite.jobs"),
    ("Plug-ins import", "campaigns.platforms.link.plugin", "campaigns.queries"),
    ("Plug-ins do not know", "campaigns.protocols.qg", "campaigns.protocols.dialogue"),
    ("Plug-ins do not know", "campaigns.platforms.link.plugin", "campaigns.protocols.custom"),
    ("Only evalsite.lib.http", "analysis.web.services.runs", "httpx"),
    ("Only evalsite.lib.http", "evalsite.lib.env", "httpx"),
    ("Only evalsite.lib.http", "annotation.simulation.visitor", "httpx"),
    ("Only evalsite.lib.http", "campaigns.platforms.mturk.account", "botocore"),
    ("Only evalsite.lib.http", "crowd.services.payments.sending", "boto3"),
]
# Modules of the exhaustive contracts that are in no layer.
STRAYS = [
    ("Inside the analysis", "analysis.stray"),
    ("Inside the pages of the analysis", "analysis.web.stray"),
    ("Inside the campaigns", "campaigns.stray"),
    ("Inside the annotation", "annotation.stray"),
    ("Inside the crowd", "crowd.stray"),
    ("Inside the desk", "desk.stray"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the linter says of sources with all violations at once, by contract."""
    checkout = copy_sources(tmp_path_factory.mktemp("violations"))
    for _, module, imported in VIOLATIONS:
        with (checkout / f"{module.replace('.', '/')}.py").open("a") as source:
            source.write(f"\nimport {imported}\n")
    for _, module in STRAYS:
        (checkout / f"{module.replace('.', '/')}.py").write_text('"""Nowhere."""\n')
    done = subprocess.run(
        [str(TOOLS / "lint-imports"), "--no-cache"], cwd=checkout, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 1
    _, *sections = re.split(r"\n(.+)\n-{4,}\n", done.stdout)
    return dict(zip(sections[::2], sections[1::2], strict=True))


def said_of(found, contract):
    return next((text for name, text in found.items() if name.startswith(contract)), "")


@pytest.mark.parametrize(("contract", "module", "imported"), VIOLATIONS)
def test_import_contracts_refuse_an_import_that_goes_up_or_out(found, contract, module, imported):
    line = rf"^- +{re.escape(module)} -> {re.escape(imported)} \(l\."
    assert re.search(line, said_of(found, contract), re.MULTILINE)


@pytest.mark.parametrize(("contract", "module"), STRAYS)
def test_import_contracts_refuse_a_module_without_a_place(found, contract, module):
    assert f"- {module}\n" in said_of(found, contract)


def test_every_import_contract_has_a_violation():
    seeded = {contract for contract, _, _ in VIOLATIONS}
    assert all(any(each["name"].startswith(contract) for contract in seeded) for each in LINTER["contracts"])


def test_import_contracts_hold_as_the_sources_are():
    assert passes(ROOT, "lint-imports", "--no-cache")


def find_circle(*packages):
    """Name the modules of a circle, each of which imports the next, also in functions or for types; "" without one.

    The linter's contract of this kind is about packages, and does not see a package and its own modules.
    """
    imports = grimp.build_graph(*packages, cache_dir=None)
    try:
        TopologicalSorter({name: imports.find_modules_directly_imported_by(name) for name in imports.modules}).prepare()
    except CycleError as error:
        return " → ".join(reversed(error.args[1]))
    return ""


def test_no_imports_form_a_circle():
    assert find_circle(*LINTER["root_packages"], "benchmarks", "tests") == ""


@pytest.mark.parametrize(
    "circle",
    [
        {"ring/one.py": "from hoop import two", "hoop/two.py": "def later():\n    import ring.one"},
        {"ring/one.py": "if TYPE_CHECKING:\n    from hoop.two import Two", "hoop/two.py": "from ring import one"},
        {"ring/__init__.py": "from ring.one import One", "ring/one.py": "from ring import Two"},
    ],
)
def test_a_circle_of_imports_is_found(tmp_path, monkeypatch, circle):
    for name in ("ring/__init__.py", "hoop/__init__.py", *circle):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(circle.get(name, ""))
    monkeypatch.syspath_prepend(tmp_path)
    assert find_circle("ring", "hoop").count(" → ") == 2
    (tmp_path / name).write_text("")
    assert find_circle("ring", "hoop") == ""


@pytest.mark.parametrize("violation", ["", "print('debugging')", "def Undocumented():\n    return 1", "import os, sys"])
def test_the_linter_refuses_bad_code(violation):
    name = "analysis/stats/scores.py"
    source = f"{(ROOT / name).read_text('utf-8')}\n\n{violation}\n" if violation else (ROOT / name).read_text("utf-8")
    is_good = passes(ROOT, "ruff", "check", "--no-cache", "--stdin-filename", name, "-", input=source)
    assert is_good == (not violation)


def test_the_type_checker_is_strict_in_the_statistics(checkout):
    with (checkout / "analysis/stats/untyped.py").open("w") as source:
        source.write('"""Untyped."""\n\n\ndef double(x):\n    """Double."""\n    return x * 2\n')
    assert not passes(checkout, "mypy", "analysis/stats/untyped.py")


def test_types_of_the_library_are_those_that_editors_see(checkout):
    as_kind = 'def as_{0}(text: str) -> {0}:\n    """Return it."""\n    return text\n'
    path = checkout / "evalsite/library/same.py"
    path.write_text("\n\n".join(['"""Same."""\n', as_kind.format("str"), as_kind.format("int")]))
    command = [TOOLS / "pyright", "--pythonpath", sys.executable, "--outputjson", path]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert done.returncode == 1
    assert [each["rule"] for each in found] == ["reportReturnType"] and '"int"' in found[0]["message"]


@pytest.mark.django_db
def test_a_model_without_its_migration_is_refused():
    try:
        meta = type("Meta", (), {"app_label": "analysis"})
        type("Forgotten", (models.Model,), {"__module__": "analysis.models", "Meta": meta})
        said = StringIO()
        with pytest.raises(SystemExit):
            call_command("makemigrations", "--check", "--dry-run", stdout=said)
        assert "Create model Forgotten" in said.getvalue()
    finally:
        apps.all_models["analysis"].pop("forgotten", None)
        apps.clear_cache()
