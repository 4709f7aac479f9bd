"""The guide's Python runs: every block of `docs/library.md`, in order, in a folder with the files that it names."""

import csv
import re
from itertools import product
from pathlib import Path

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
