"""What the wheel holds: one package, `evalsite`, with the apps in it; in `evalsite/files` what they read.

In a checkout the apps lie at the top, and call each other `campaigns`, `analysis` … In site-packages these names would
meet those of other people, so the wheel's modules import `evalsite.campaigns`. pyproject.toml has the rest.
"""

import ast
import re
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

APPS = ("campaigns", "annotation", "analysis", "crowd", "api", "desk", "simulators")  # as in evalsite/lib/folders.py
# evalsite/lib/folders.py finds them there, or beside the packages in a checkout.
FILES = ("templates", "static", "docs", "examples")
_IMPORTS = re.compile(rb"\b(?:from|import)\b.*\b(?:%s)\b" % "|".join(APPS).encode())
NOT_SHIPPED = ["**/__pycache__/*", "**/*.pyc"]


def import_from_package(source: bytes) -> bytes:
    """Return a module whose imports of apps are from `evalsite`."""
    if not _IMPORTS.search(source):  # reading them takes most of a build
        return source
    lines = source.splitlines(keepends=True)
    places = set()
    imported = set()  # apps that the module knows by their own name
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and _app_of(node.module or ""):
            places.add((node.lineno, node.col_offset + len("from ")))
        elif isinstance(node, ast.Import):
            for alias in filter(lambda alias: _app_of(alias.name), node.names):
                places.add((alias.lineno, alias.col_offset))
                imported |= {_app_of(alias.name)} if alias.asname is None else set()
    if imported:
        names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in imported)
        places |= {(node.lineno, node.col_offset) for node in names}
    for line, column in sorted(places, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + b"evalsite." + lines[line - 1][column:]
    return b"".join(lines)


def _app_of(module: str) -> str:
    return app if (app := module.partition(".")[0]) in APPS else ""


class BuildPackage(build_py):
    """Copies the packages, and lets modules of ours import from `evalsite`."""

    def run(self) -> None:
        """Build what the wheel holds."""
        super().run()
        package = Path(self.build_lib) / "evalsite"
        for path in package.rglob("*.py"):
            if "files" not in path.relative_to(package).parts[:1]:
                path.write_bytes(import_from_package(path.read_bytes()))


# A checkout that is installed as it is has its apps at the top.
IS_CHECKOUT = "editable_wheel" in sys.argv
INSIDE = "" if IS_CHECKOUT else "evalsite."

setup(
    packages=[
        *find_packages(include=["evalsite", "evalsite.*"]),
        *(f"{INSIDE}{name}" for name in find_packages(include=[name for app in APPS for name in (app, f"{app}.*")])),
        *(f"evalsite.files.{name}" for name in FILES if Path(name).is_dir()),
    ],
    package_dir={f"{INSIDE}{name}": name for name in APPS} | {f"evalsite.files.{name}": name for name in FILES},
    package_data={"": ["**/*"]},
    exclude_package_data={"": NOT_SHIPPED},
    include_package_data=False,
    cmdclass={} if IS_CHECKOUT else {"build_py": BuildPackage},
)
