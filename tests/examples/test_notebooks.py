"""The notebooks of the library run from top to bottom, in a kernel of their own."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
# Needs a site: tests/e2e/test_client.py runs it.
OF_SITE = "a-campaign-by-script"
GUIDE = (EXAMPLES.parent / "docs/library.md").read_text()


@pytest.mark.parametrize("path", [each for each in NOTEBOOKS if each.stem != OF_SITE], ids=lambda path: path.stem)
def test_every_cell_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "notebooks", tmp_path / "notebooks")
    shutil.copy(EXAMPLES / "ratings.csv", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    notebook = nbformat.read(path, nbformat.current_nbformat)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are made where it is run"
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path / "notebooks")}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert shown and not any(output.output_type == "error" for output in shown)


def test_the_guide_lists_each() -> None:
    assert [path.name for path in NOTEBOOKS if f"../examples/notebooks/{path.name}" not in GUIDE] == []
