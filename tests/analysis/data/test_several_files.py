"""Several files of answers are read as one, whatever the format, the order and the names of their columns."""

import csv
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from analysis.data.choices import Choices
from analysis.data.loading import load_scores
from analysis.data.ratings.loading import load_ratings
from analysis.data.responses import Responses
from analysis.data.votes import load_votes
from analysis.web.services.ratings_files import upload_ratings
from evalsite.accounts.models import User
from evalsite.lib.tables import TableError


def read(*paths: Path, **said) -> Responses:
    choices = Choices(more=tuple(paths[1:]), **said)
    return load_scores(paths[0], float, "a number", criterion="score", choices=choices)


@pytest.fixture
def rows(cases: Path) -> list[dict[str, str]]:
    with (cases / "levels_long.csv").open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def parts(rows, tmp_path: Path) -> list[Path]:
    """A third as CSV, one as JSON Lines with columns in another order, one with other names of columns."""
    thirds = [rows[k::3] for k in range(3)]
    first, second, third = tmp_path / "a.csv", tmp_path / "b.jsonl", tmp_path / "c.csv"
    write(first, thirds[0])
    second.write_text("\n".join(json.dumps(dict(reversed(row.items()))) for row in thirds[1]))
    write(third, [{"annotator" if name == "worker" else name: cell for name, cell in row.items()} for row in thirds[2]])
    return [first, second, third]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_three_files_are_read_as_the_one_that_they_were(cases: Path, parts: list[Path]) -> None:
    whole, found = read(cases / "levels_long.csv"), read(*parts)
    assert (found.workers, found.systems, found.sources) == (whole.workers, whole.systems, whole.sources)
    assert sorted(zip(found.worker, found.source, found.system, found.criterion, found.score, strict=True)) == sorted(
        zip(whole.worker, whole.source, whole.system, whole.criterion, whole.score, strict=True)
    )


def test_direct_assessment_reads_them_too(cases: Path, parts: list[Path]) -> None:
    criteria, scale = ["adequacy", "fluency"], (1, 5)
    found = load_ratings(parts[0], criteria=criteria, scale=scale, choices=Choices(more=tuple(parts[1:])))
    whole = load_ratings(cases / "levels_long.csv", criteria=criteria, scale=scale)
    assert found.fingerprint == whole.fingerprint


def test_what_stands_twice_is_named_with_its_file(parts: list[Path], tmp_path: Path, rows) -> None:
    again = tmp_path / "again.csv"
    write(again, [{**rows[0], "answer": "1" if rows[0]["answer"] != "1" else "2"}])
    with pytest.raises(TableError) as refused:
        read(*parts, again)
    assert "“answer (again.csv)”" in str(refused.value)
    assert read(*parts, again, twice="first").n == read(*parts).n


def test_what_is_wrong_is_said_of_the_file_that_has_it(parts: list[Path]) -> None:
    parts[1].write_text(parts[1].read_text().replace('"answer": "4"', '"answer": "good"', 1))
    with pytest.raises(TableError, match=r"b\.jsonl"):
        load_ratings(parts[0], criteria=["adequacy", "fluency"], choices=Choices(more=tuple(parts[1:])))


def test_votes_are_read_from_several_files(tmp_path: Path) -> None:
    vote = {"worker": "w", "source": "1", "system_a": "alpha", "system_b": "beta", "winner": "a"}
    write(tmp_path / "a.csv", [vote])
    write(tmp_path / "b.csv", [{**vote, "worker": "v", "winner": "beta"}])
    found = load_votes(tmp_path / "a.csv", Choices(more=(tmp_path / "b.csv",)))
    assert found.workers == ["v", "w"]
    assert found.outcome.tolist() == [0, 1]


@pytest.mark.django_db
def test_they_are_uploaded_together(owner: User, parts: list[Path], rows) -> None:
    first, *others = (SimpleUploadedFile(each.name, each.read_bytes()) for each in parts)
    kept = upload_ratings(owner=owner, upload=first, more=others)
    assert "4 raters judged 36 outputs of 3 systems on 2 criteria" in kept.reading["sentence"]
    with kept.file.open() as stream:
        assert len(stream.read().splitlines()) == len(rows) + 1
