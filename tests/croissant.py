"""Croissant metadata, read by its authors' validator, which has an environment of its own (`make .tools/ready`)."""

import json
import subprocess
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[1] / ".tools/bin/python"
_READ = """
import json, sys
import mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])  # raises ValidationError
print(json.dumps({
    sets.id: [{name.partition("/")[2]: str(value.decode() if isinstance(value, bytes) else value)
               for name, value in record.items()} for record in dataset.records(record_set=sets.id)]
    for sets in dataset.metadata.record_sets
}))
"""


def records_by(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of every table that valid metadata describe, found and read by them: hashes are checked."""
    if not PYTHON.exists():
        pytest.skip("the validator is not installed: make .tools/ready")
    done = subprocess.run([PYTHON, "-c", _READ, path], cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
    return found
