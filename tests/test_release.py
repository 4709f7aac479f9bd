"""What `make release` builds: the same bytes wherever it is built, by the version of the commit."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ".ci/release"
_AUTHOR = {f"GIT_{who}_{what}": "nobody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, env=os.environ | _AUTHOR)


# --- Builds


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What two clones in other folders build, in other time zones, with other rights and another order of sets."""
    if not (ROOT / ".git").exists() or not (ROOT / ".tools/bin/cyclonedx-py").exists():
        pytest.skip("a release needs a git checkout and its tools: make .tools/ready")
    found = []
    for name, zone, umask, seed in (("one", "UTC", 0o022, "1"), ("another", "Asia/Tokyo", 0o077, "2")):
        folder = tmp_path_factory.mktemp(name)
        git(ROOT, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder / "clone"))
        shutil.copy(ROOT / SCRIPT, folder / "clone" / SCRIPT)
        (folder / "clone/.tools").symlink_to((ROOT / ".tools").resolve())
        done = subprocess.run(
            [sys.executable, SCRIPT, folder / "dist"],
            cwd=folder / "clone",
            env=os.environ | {"TZ": zone, "PYTHONHASHSEED": seed},
            umask=umask,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(folder / "dist")
    return found


def only(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def test_two_builds_are_the_same_bytes(builds: list[Path]) -> None:
    one, other = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in builds)
    assert one.keys() == other.keys() and len(one) == 5
    assert [name for name in one if one[name] != other[name]] == []


def test_the_sums_are_those_of_the_files(builds: list[Path]) -> None:
    lines = (builds[0] / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums.keys() == {path.name for path in builds[0].iterdir()} - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((builds[0] / name).read_bytes()).hexdigest() == digest


def test_the_wheel_is_one_package_that_knows_its_version(builds: list[Path]) -> None:
    path = only(builds[0], "*.whl")
    version = path.name.split("-")[1]
    with ZipFile(path) as wheel:
        names = wheel.namelist()
        assert {name.partition("/")[0] for name in names} == {"evalsite", f"evalsite-{version}.dist-info"}
        assert f'__version__ = "{version}"' in wheel.read("evalsite/lib/version.py").decode()
        assert b"from evalsite.campaigns" in wheel.read("evalsite/analysis/methods/settings.py")
    with tarfile.open(only(builds[0], "*.tar.gz")) as sdist:
        [about] = (member for member in sdist.getmembers() if member.name.endswith("/CITATION.cff"))
        content = sdist.extractfile(about)
        assert content is not None and f"version: {version}\n" in content.read().decode()
        assert "tests" not in {name.split("/")[1] for name in sdist.getnames() if "/" in name}


def test_the_sbom_lists_what_is_installed_with_the_wheel_and_no_more(builds: list[Path]) -> None:
    sbom = json.loads(only(builds[0], "*.cdx.json").read_text())
    wheel = only(builds[0], "*.whl")
    about = sbom["metadata"]["component"]
    assert (sbom["bomFormat"], about["name"], about["version"]) == ("CycloneDX", "evalsite", wheel.name.split("-")[1])
    assert about["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    found = {component["name"]: component["version"] for component in sbom["components"]}
    pins = dict(
        line.lower().replace("_", "-").split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]
    )
    assert {"django", "numpy", "httpcore", "psycopg-binary"} <= found.keys()  # and what these need, and extras
    assert not {"pytest", "mypy", "polars", "datasets"} & found.keys()
    assert {name: pins[name] for name in found} == found


# --- Versions and changes


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, of a repository with two commits that are version 1.2.0."""
    loader = SourceFileLoader("release", str(ROOT / SCRIPT))
    spec = spec_from_loader("release", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    git(tmp_path, "init", "--quiet")
    write(tmp_path, "1.2.0")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "more")
    return module


def write(folder: Path, version: str, *names: str) -> None:
    """Commit the version in the files that have it, or in those that are named."""
    texts = {
        "evalsite/lib/version.py": f'__version__ = "{version}"\n',
        "pyproject.toml": f'[project]\nname = "evalsite"\nversion = "{version}"\n',
        "CITATION.cff": f"cff-version: 1.2.0\nversion: {version}\n",
        "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- New\n\n## 1.2.0 (2030-01-31)\n\n- Old\n\n## 1.1.0\n",
    }
    for name in names or texts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(texts[name])
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", version)


def test_without_a_tag_it_is_a_development_version(release: ModuleType) -> None:
    assert release.find_version() == "1.2.0.dev2"
    assert release.changes("1.2.0.dev2") == "- New\n"


def test_a_tagged_commit_has_the_version_of_its_tag(release: ModuleType, tmp_path: Path) -> None:
    git(tmp_path, "tag", "v1.2.0")
    assert release.find_version() == "1.2.0"
    assert release.changes("1.2.0") == "- Old\n"


def test_commits_after_a_tag_are_of_the_next_version(release: ModuleType, tmp_path: Path) -> None:
    git(tmp_path, "tag", "v1.2.0")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "more")
    assert release.find_version() == "1.2.1.dev1"
    write(tmp_path, "2.0.0")
    assert release.find_version() == "2.0.0.dev2"


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(SystemExit) as found:
        action()
    return str(found.value.code)


def test_files_that_say_another_version_than_the_tag_are_refused(release: ModuleType, tmp_path: Path) -> None:
    write(tmp_path, "1.3.0", "CITATION.cff")
    assert refused(release.find_version).startswith("The version is 1.2.0, but CITATION.cff says 1.3.0.")
    git(tmp_path, "tag", "v1.3.0")
    assert re.search(r"is 1\.3\.0, but .*version\.py says 1\.2\.0, pyproject", refused(release.find_version))


def test_a_version_without_its_section_of_the_changelog_is_refused(release: ModuleType) -> None:
    assert refused(lambda: release.changes("1.1.5")) == "CHANGELOG.md has no section “## 1.1.5”."
