"""What the wheel holds: the packages, and in `evalsite/files` what they read. pyproject.toml has the rest."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = ["evalsite", "campaigns", "annotation", "analysis", "crowd", "api", "desk", "simulators"]
# evalsite/lib/folders.py finds them there, or beside the packages in a checkout.
FILES = ["templates", "static", "docs", "examples"]
NOT_SHIPPED = ["**/__pycache__/*", "**/*.pyc"]

setup(
    packages=[
        *find_packages(include=[name for package in PACKAGES for name in (package, f"{package}.*")]),
        *(f"evalsite.files.{name}" for name in FILES if Path(name).is_dir()),
    ],
    package_dir={f"evalsite.files.{name}": name for name in FILES},
    package_data={"": ["**/*"]},
    exclude_package_data={"": NOT_SHIPPED},
    include_package_data=False,
)
