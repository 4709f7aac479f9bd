"""The guide's Python runs: every block of `docs/library.md`, in order, in a folder with the files that it names."""

import csv
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text(), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ratings with a column of domains, ratings of two language pairs, and scores of a metric."""
    with (ROOT / "examples/ratings.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    outputs = dict.fromkeys((row["system"], row["source"]) for row in rows if row["kind"] == "ordinary")
    sources = sorted({row["source"] for row in rows})
    files = {
        "ratings.csv": [{**row, "domain": ("news", "chats")[sources.index(row["source"]) % 2]} for row in rows],
        "wmt.tsv": [{**row, "language_pair": pair} for pair in ("en-de", "en-cs") for row in rows],
        "levels.csv": [
            {"worker": worker, "model": model, "source": source, "score": 1 + (len(model) + source + len(worker)) % 5}
            for worker, model, source in product(("ann", "bo", "cyd"), ("one", "three"), range(4))
        ],
        "metrics.csv": [
            {"metric": "length", "system": system, "source": source, "score": len(system + source)}
            for system, source in outputs
        ],
    }
    for name, content in files.items():
        with (tmp_path / name).open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(content[0]), delimiter="\t" if name.endswith("tsv") else ",")
            table.writeheader()
            table.writerows(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_runs(folder: Path) -> None:
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/library.md", "exec"), names)
    assert (folder / "ranking.pdf").exists()


def r_block() -> str:
    [block] = re.findall(r"```r\n(.*?)```", (ROOT / "docs/library.md").read_text(), re.DOTALL)
    return block


def test_the_block_of_r_does_what_python_does(folder: Path) -> None:
    """What R calls is there, and what it reads are tables: the block in Python, by pandas in the place of readr."""
    block = r_block().replace("<-", "=").replace("$", ".").replace("reticulate::import", "import_module")
    names: dict[str, Any] = {"import_module": import_module, "read_csv": pandas.read_csv, "I": StringIO}
    exec(compile(block.replace("readr::", ""), "docs/library.md", "exec"), names)
    assert set(names["answers"]["worker"]) == set(pandas.read_csv("ratings.csv")["worker"])
    assert list(names["systems"]["rank"]) == sorted(names["systems"]["rank"])


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_block_of_r_runs(folder: Path) -> None:
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    has_packages = 'quit(status = !all(c("reticulate", "readr") %in% rownames(installed.packages())))'
    if subprocess.run(["Rscript", "-e", has_packages], env=environment).returncode:
        pytest.skip("R has no reticulate or no readr")
    script = r_block() + "stopifnot(is.numeric(answers$score), nrow(systems) == 6)\ncat(systems$system[1])\n"
    done = subprocess.run(["Rscript", "-e", script], env=environment, capture_output=True, text=True)
    assert done.stdout.endswith("human"), done.stderr
