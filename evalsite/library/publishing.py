"""Responses as a data set to publish: a folder that `datasets.load_dataset` reads, with a card and its metadata."""

import hmac
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from analysis.results.paper import heds
from campaigns.contracts.columns import column
from evalsite.lib.tables import Table
from evalsite.lib.tables.croissant import FILE, About, Column, DescribedFile, Holds, describe

RESPONSES, CARD = "responses.parquet", "README.md"
_WORKERS, _ASSIGNMENT = ("worker", "rater"), "assignment"
_HASH_LENGTH = 12
_MOST_EXACT = 2.0**53
_SIZES = (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M")
_LARGEST = "10M<n<100M"
_TASKS = {
    "machine translation": "translation",
    "summarisation": "summarization",
    "question answering": "question-answering",
    "data-to-text": "table-to-text",
    "dialogue": "text-generation",
    "generation": "text-generation",
    "simplification": "text-generation",
}
"""Tasks as the Hub names them, by words of the datasheet's answer to question 2.3."""
_LANGUAGES_ASKED, _TASK_ASKED, _AUTHORS_ASKED = ("2.5", "2.4"), "2.3", ("1.3.2.1", "1.3.1.1")
_CARD = """\
---
{front}
---

# {name}

{sentence}

Each row of `{file}` is one answer. Workers are named by keyed hashes.

| column | |
|---|---|
{columns}

```python
import evalsite as ev

ev.analyse(ev.read("hf://{repository}", {how})).findings
```
{datasheet}"""


@dataclass(frozen=True)
class Publication:
    """What `to_hf` says of a data set; what is empty follows from the datasheet, or is left out."""

    name: str
    license: str = ""
    task: str = ""
    languages: Sequence[str] = ()
    creators: Sequence[str] = ()
    repository: str = ""
    datasheet: Sequence[heds.Section] = ()

    def answer(self, *numbers: str) -> str:
        """Return the datasheet's answer to the first of some questions that has one."""
        known = {each.number: each.answer for section in self.datasheet for each in section.questions}
        return next((known[number] for number in numbers if known.get(number)), "")

    @property
    def completed(self) -> "Publication":
        """The same with what the datasheet says."""
        task = self.answer(_TASK_ASKED).casefold()
        author = self.answer(*_AUTHORS_ASKED)
        return replace(
            self,
            task=self.task or next((name for words, name in _TASKS.items() if words in task), ""),
            languages=self.languages or _languages_in(self.answer(*_LANGUAGES_ASKED)),
            creators=self.creators or ([author] if author and not author.startswith("N/A") else []),
        )


def write_dataset(answers: Any, folder: Path, publication: Publication, *, sentence: str, how: str, key: str) -> Path:
    """Write responses, card and metadata into a folder; return its path.

    `answers`: what `long_table` returns; `sentence`: what they are; `how`: what `read` is given with them in Python;
    `key`: by which workers' names are hashed, "" where they are hashes already.
    """
    import pyarrow.parquet

    table = _anonymous(answers, key)
    folder.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, folder / RESPONSES)
    columns = [_described(name, table.schema.field(name).type) for name in table.column_names]
    about = publication.completed
    (folder / CARD).write_text(_card(about, sentence, how, columns, table.num_rows), "utf-8")
    file = DescribedFile(RESPONSES, columns, sha256((folder / RESPONSES).read_bytes()).hexdigest())
    known = About(
        about.name,
        sentence,
        license=about.license,
        url=f"https://huggingface.co/datasets/{about.repository}" if about.repository else "",
        creators=about.creators,
        languages=about.languages,
        published=datetime.now(UTC).date().isoformat(),
    )
    (folder / FILE).write_text(json.dumps(describe(known, [file]), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return folder


def long_table(called: Mapping[str, str], table: Table) -> Any:
    """Return a table of one answer a row as Arrow: columns by what they are, numbers as numbers, empty cells null."""
    import pyarrow as pa

    roles = {own: role for role, own in called.items()}
    columns = {}
    for own in dict.fromkeys([*called.values(), *table.text]):
        name = roles.get(own, own)
        if own in table.numbers:
            columns[name] = pa.array(table.numbers[own], from_pandas=True)
        elif own in table.cells:
            columns[name] = table.cells[own]
        elif own in table.text:
            labels, codes = table.text[own].labels, table.text[own].codes
            columns[name] = pa.array(_typed(labels, column(name).holds)).take(pa.array(codes))
    return pa.table(columns)


def _typed(labels: Sequence[str], holds: Holds) -> list[Any]:
    """Return the cells of a column, as numbers where all can be without losing digits."""
    cells = [label or None for label in labels]
    if holds not in (Holds.NUMBER, Holds.WHOLE):
        return cells
    try:
        numbers = [None if cell is None else float(cell) for cell in cells]
    except ValueError:
        return cells
    if any(number is not None and abs(number) >= _MOST_EXACT for number in numbers):
        return cells
    is_whole = all(number is None or number.is_integer() for number in numbers)
    return [None if number is None else int(number) for number in numbers] if is_whole else numbers


def _anonymous(table: Any, key: str) -> Any:
    """Return a table with workers named by keyed hashes, and assignments numbered: their names may hold a worker's."""
    import pyarrow as pa

    for name in table.column_names:
        if name not in (*_WORKERS, _ASSIGNMENT):
            continue
        cells = table[name].to_pylist()
        known = sorted({cell for cell in cells if cell is not None}, key=str)
        width = len(str(len(known)))
        if name == _ASSIGNMENT:
            new = {cell: f"a{k:0{width}d}" for k, cell in enumerate(known, start=1)}
        elif not key:
            new = {cell: cell for cell in known}
        else:
            new = {cell: f"w{k:0{width}d}-{_hash(str(cell), key)}" for k, cell in enumerate(known, start=1)}
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([new.get(cell) for cell in cells], pa.string()))
    return table


def new_key() -> str:
    """Return a key that nobody knows, so that nobody can try names until a hash is the same."""
    return secrets.token_hex()


def _hash(name: str, key: str) -> str:
    return hmac.new(key.encode(), name.encode(), sha256).hexdigest()[:_HASH_LENGTH]


def _described(name: str, arrow_type: Any) -> Column:
    """Return what a column means, with what its cells are in the file."""
    import pyarrow as pa

    known = column(name)
    if pa.types.is_integer(arrow_type):
        return replace(known, holds=Holds.WHOLE)
    return replace(known, holds=Holds.NUMBER if pa.types.is_floating(arrow_type) else Holds.TEXT)


def _card(about: Publication, sentence: str, how: str, columns: Sequence[Column], n_rows: int) -> str:
    """Return the card: what the Hub finds data sets by, as YAML, and what people read."""
    front: dict[str, Any] = {
        "license": about.license or "unknown",
        "pretty_name": about.name,
        "language": list(about.languages),
        "task_categories": [about.task] if about.task else [],
        "size_categories": [next((name for most, name in _SIZES if n_rows < most), _LARGEST)],
        "tags": ["human-evaluation", "croissant"],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": RESPONSES}]}],
    }
    sections = [replace(each, questions=[q for q in each.questions if not q.is_open]) for each in about.datasheet]
    sheet = heds.to_markdown(about.name, [each for each in sections if each.questions]) if about.datasheet else ""
    return _CARD.format(
        front="\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items() if value),
        name=about.name,
        sentence=sentence,
        file=RESPONSES,
        columns="\n".join(f"| `{each.name}` | {each.meaning} |" for each in columns),
        repository=about.repository or "OWNER/NAME",
        how=how,
        datasheet=f"\n#{sheet.replace(chr(10) + '#', chr(10) + '##')}" if sheet else "",
    )


def _languages_in(answer: str) -> list[str]:
    """Return the codes of the languages that an answer names in English."""
    from django.conf.locale import LANG_INFO

    words = set(re.findall(r"\w+", answer.casefold()))
    known = {code: info["name"] for code, info in LANG_INFO.items() if "name" in info and len(code) == 2}
    return sorted(code for code, name in known.items() if name.casefold() in words)
