"""Datasets of the Hugging Face Hub: read by name, with the package datasets, from folders where it keeps none."""

import json
from pathlib import Path

import datasets
import pandas
import pytest
import yaml

import evalsite as ev
from tests.croissant import records_by
from tests.library.test_four_ways import rows_with_style, settings_of
from tests.library.test_sources import ROWS
from tests.methods.test_by_groups import PROTOCOLS, rows_of

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


# --- Writing


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_written_gives_the_same_results_again(protocol: str, hub: Path) -> None:
    settings = settings_of(protocol)
    data = ev.read(list(rows_with_style(protocol)), settings)
    folder = data.to_hf(hub / "lab/responses", keep=["domain"])

    table = datasets.load_dataset(str(folder), split="train")
    again = ev.read("hf://lab/responses", settings)
    assert table.num_rows == len(again.table()) > 0
    assert ev.analyse(again, brief=True).to_json() == ev.analyse(data, brief=True).to_json()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_is_written_names_a_worker(protocol: str, hub: Path) -> None:
    rows = [
        {name: f"Ann {cell} Smith" if name in ("worker", "rater") else cell for name, cell in row.items()}
        for row in rows_of(protocol)
    ]
    folder = ev.read(rows, settings_of(protocol)).to_hf(hub / "folder")
    texts = [datasets.load_dataset(str(folder), split="train").to_pandas().to_csv()]
    texts += [(folder / name).read_text() for name in ("README.md", "croissant.json")]
    assert not any("Ann" in text or "Smith" in text for text in texts)


def test_raters_who_are_columns_are_not_named(hub: Path) -> None:
    rows = [{"item": k, "system": s, "Ann": 1 + k % 5, "Bo": 1 + (k + 1) % 5} for k in range(6) for s in ("x", "y")]
    data = ev.read(rows, shape="raters")
    table = datasets.load_dataset(str(data.to_hf(hub / "folder")), split="train")
    assert set(table.column_names) == {"worker", "source", "system", "score"}
    assert len(set(table["worker"])) == 2 and not {"Ann", "Bo"} & set(table["worker"])


def test_whole_numbers_stay_whole_and_long_ones_keep_their_digits(hub: Path) -> None:
    rows = [{**row, "position": 9_007_199_254_740_993 + k, "hit": k % 2} for k, row in enumerate(ROWS)]
    table = datasets.load_dataset(str(ev.read(rows, "esa", scale=(1, 5)).to_hf(hub / "folder")), split="train")
    assert {str(row["position"]) for row in rows} == set(table["position"])
    assert table.features["score"].dtype == "int64" and table.features["hit"].dtype == "string"


def test_one_key_gives_a_worker_the_same_hash_and_no_key_another_each_time(hub: Path) -> None:
    data = ev.read(ROWS)
    keys = ("a", "a", "b", "", "")
    folders = [data.to_hf(hub / str(k), key=key) for k, key in enumerate(keys)]
    names = [frozenset(datasets.load_dataset(str(folder), split="train")["worker"]) for folder in folders]
    assert names[0] == names[1]
    assert len(set(names)) == 4


def test_the_card_says_what_the_hub_and_people_ask(hub: Path) -> None:
    answers = {"2.3": "5. machine translation", "2.5": "German and French", "1.3.2.1": "Ada Lovelace"}
    questions = [
        {"number": number, "question": "?", "answer": answer, "origin": "researcher", "to_write": None}
        for number, answer in answers.items()
    ]
    open_one = {"number": "2.4", "question": "Left open?", "answer": None, "origin": "open", "to_write": "Names."}
    sheet = {"sections": [{"number": "2", "title": "Evaluated systems", "questions": [*questions, open_one]}]}
    (hub / "datasheet.json").write_text(json.dumps(sheet))
    folder = ev.read(ROWS).to_hf(
        hub / "folder", name='Ratings: "news"', license="cc-by-4.0", datasheet=hub / "datasheet.json"
    )
    front, card = (folder / "README.md").read_text().split("\n---\n")
    said = yaml.safe_load(front.removeprefix("---\n"))
    assert said.pop("configs")[0]["config_name"] == "default"
    assert said == {
        "license": "cc-by-4.0",
        "pretty_name": 'Ratings: "news"',
        "language": ["de", "fr"],
        "task_categories": ["translation"],
        "size_categories": ["n<1K"],
        "tags": ["human-evaluation", "croissant"],
    }
    assert READ in card and "5. machine translation" in card and "Left open?" not in card
    assert [line.partition(" ")[0] for line in card.splitlines() if line.startswith("#")] == ["#", "##", "###"]
    about = json.loads((folder / "croissant.json").read_text())
    assert about["creator"] == [{"@type": "Person", "name": "Ada Lovelace"}]
    assert about["inLanguage"] == ["de", "fr"]


def test_the_metadata_describe_every_column(hub: Path) -> None:
    folder = ev.read(ROWS).to_hf(hub / "folder")
    table = datasets.load_dataset(str(folder), split="train")
    [(name, records)] = records_by(folder / "croissant.json").items()
    assert (name, len(records), list(records[0])) == ("responses", len(table), table.column_names)


def test_a_column_that_is_not_there_is_not_kept(hub: Path) -> None:
    with pytest.raises(ev.DomainError, match="no column “domain”"):
        ev.read(ROWS).to_hf(hub / "folder", keep=["domain"])
    assert not (hub / "folder").exists()
