"""Datasets of the Hugging Face Hub: read by name, with the package datasets, from folders where it keeps none."""

from pathlib import Path

import datasets
import pandas
import pytest

import evalsite as ev
from tests.library.test_sources import ROWS

READ = "4 raters judged 10 outputs of 2 systems with levels 2 to 5."


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which datasets looks first: `owner/name` is a dataset if there is such a folder."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    datasets.disable_progress_bars()
    return tmp_path


def write(folder: Path, *names: str) -> None:
    """Write the ratings into files of these names: the first half, and all."""
    folder.mkdir(parents=True)
    for name, rows in zip(names, (ROWS[:20], ROWS), strict=False):
        pandas.DataFrame(rows).to_csv(folder / name, index=False)


def sentence(name: str) -> str:
    reading = ev.read(name).reading
    assert reading is not None
    return reading.sentence


def test_an_only_split_need_not_be_named(hub: Path) -> None:
    write(hub / "lab/ratings", "other.csv", "validation.csv")
    (hub / "lab/ratings/other.csv").unlink()
    assert sentence("hf://lab/ratings") == sentence("hf://datasets/lab/ratings/validation") == READ


def test_a_split_or_a_file_is_named_behind_the_dataset(hub: Path) -> None:
    write(hub / "lab/ratings", "train.csv", "test.csv")
    assert sentence("hf://lab/ratings/test") == sentence("hf://lab/ratings/test.csv") == READ
    assert sentence("hf://lab/ratings/default/train").startswith("2 raters")
    assert sentence("hf://lab/ratings/test[:20]") == sentence("hf://lab/ratings/train")


def test_configurations_are_named_before_splits(hub: Path) -> None:
    for name in ("fluency", "adequacy"):
        write(hub / "lab/ratings" / name, "train.csv", "test.csv")
    (hub / "lab/ratings/README.md").write_text(
        "---\nconfigs:\n"
        + "".join(f"- config_name: {name}\n  data_dir: {name}\n" for name in ("fluency", "adequacy"))
        + "---\n"
    )
    assert sentence("hf://lab/ratings/adequacy/test") == READ
    for name, code, message in (
        ("", "several_parts", "has 2 configurations: fluency and adequacy. Name one: hf://lab/ratings/fluency."),
        ("/train", "no_such_part", "lab/ratings has no configuration “train”. It has fluency and adequacy."),
        ("/fluency", "several_parts", "lab/ratings/fluency has 2 splits: train and test. Name one: hf://lab/"),
        ("/fluency/dev", "no_such_part", "lab/ratings/fluency has no split “dev”. It has train and test."),
    ):
        refuse(f"hf://lab/ratings{name}", code, message)


def refuse(name: str, code: str, message: str) -> None:
    with pytest.raises(ev.DomainError) as refused:
        ev.read(name)
    assert refused.value.code == code
    assert message in refused.value.message


def test_splits_and_files_that_are_missing_are_said(hub: Path) -> None:
    write(hub / "lab/ratings", "train.csv", "test.csv")
    refuse("hf://lab/ratings", "several_parts", "lab/ratings has 2 splits: train and test. Name one: hf://lab/ratings/")
    refuse("hf://lab/ratings/dev", "no_such_part", "lab/ratings has no split “dev”. It has train and test.")
    refuse("hf://lab/ratings/dev.csv", "no_dataset", "There is no dataset lab/ratings: dev.csv that may be read.")
    refuse("hf://ratings", "bad_name", "hf://owner/name")


def test_a_hub_that_does_not_answer_is_said(hub: Path) -> None:
    refuse("hf://lab/ratings", "no_connection", "The Hub does not answer")
