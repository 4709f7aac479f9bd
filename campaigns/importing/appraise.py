"""Appraise's batches of Direct Assessment tasks: sources, outputs and the HITs as they were given to workers.

A batch is a JSON array of tasks `{"task": {"requiredAnnotations": 1, …}, "items": [{"itemID", "itemType", "sourceID",
"sourceText", "targetID", "targetText", …}]}`. `itemType` is TGT (ordinary), BAD (degraded), REF (reference) or CHK
(repeat); `targetID` is `a+b` where systems a and b gave the same text.

A source is an `itemID` of a `sourceID`; where tasks number their items anew, as those of ESA do, it is a place of a
document. Items of a tutorial are of no source and no system. A copy's twin is the TGT item of the same source and
system in the same task; where there is none the twin stays open, but a BAD item of an output that is nowhere in the
file as TGT is refused: its text as shown is not that system's output. A REF item belongs to an output of its source: to
the task's only one, which is its twin then, else to the file's first.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.importing.contents import (
    LONGEST_TEXT,
    Contents,
    GivenHit,
    GivenItem,
    Notice,
    SourceText,
    too_long,
)
from campaigns.importing.tables import LONGEST_NAME
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Problem, TableError
from evalsite.lib.tables.errors import MAX_SHOWN, shorten

SOURCE_FIELD = "source"
_KINDS = {"TGT": Kind.ORDINARY, "BAD": Kind.DEGRADED, "REF": Kind.REFERENCE, "CHK": Kind.REPEAT}
_TEXTS = ("sourceText", "targetText")
_IDS = ("itemID", "sourceID", "targetID")
_HEAD = 1 << 16
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*("items"\s*:|"task"\s*:\s*\{)')
# A table of JSON may have a list of objects called “items”, too.
_OBJECTS = re.compile(rb'"items"\s*:\s*\[\s*\{\s*"')
_OF_ITEMS = re.compile(rb'"(itemID|itemType|sourceID|sourceText|targetID|targetText)"')
# NUL and halves of surrogate pairs: no database stores them.
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
# `document#system#bad1`; some names of documents have `_#_` in them.
_SUFFIX = re.compile(r"(?<!_)#(?!_)")
_MAX_ITEMS = 10_000
_MAX_WORKERS = 1_000


@dataclass(frozen=True)
class Batch:
    """What a batch file holds; `contents.sources` have the field `SOURCE_FIELD` and the reference field, if known."""

    contents: Contents
    hits: tuple[GivenHit, ...]


def is_batch(path: str | Path) -> bool:
    """Tell by its beginning whether a file may hold Appraise's batches."""
    with Path(path).open("rb") as handle:
        head = handle.read(_HEAD)
    return bool(_BEGINNING.match(head)) and (not _OBJECTS.search(head) or bool(_OF_ITEMS.search(head)))


def check_screen(screen: Screen) -> None:
    """Raise DomainError `wrong_protocol` if the screen does not show sources as Appraise does."""
    required = {each.name for each in screen.fields if each.is_required} - {SOURCE_FIELD}
    if SOURCE_FIELD not in screen.field_names or required:
        raise DomainError(
            "wrong_protocol",
            "These are batches of Appraise, in which workers compare a translation with a text. Create a campaign "
            "“Direct Assessment, translation” and upload them there.",
        )


def read_batch(path: str | Path, screen: Screen, *, name: str | None = None, longest_text: int = LONGEST_TEXT) -> Batch:
    """Return what a batch file holds; raise TableError that names every bad item by its place in the file.

    A text of more than `longest_text` characters is bad.
    """
    file = name or Path(path).name
    tasks = _load(Path(path), file)
    problems: list[Problem] = []
    found = list(_items(tasks, problems, longest_text))
    tutorial = [item for item in found if item.kind is Kind.TUTORIAL]
    items = _placed([item for item in found if item.kind is not Kind.TUTORIAL])
    if not problems and not items:
        problems.append(Problem(None, None, "every item is of a tutorial. Add those that are to be rated.", "no_items"))
    if not problems:
        book = _Book(items, problems)
        given: dict[int, dict[int, GivenItem]] = {item.task: {} for item in items}
        for item in (*items, *(each for each in tutorial if each.task in given)):
            given[item.task][item.position] = book.given(item)
        hits = tuple(
            GivenHit(tuple(of_task[position] for position in sorted(of_task)), _n_workers(tasks[n]))
            for n, of_task in sorted(given.items())
        )
    if problems:
        raise TableError(file, problems[:MAX_SHOWN], max(0, len(problems) - MAX_SHOWN))
    contents = book.contents(screen.reference_field)
    notices = (*contents.notices, *_workers_notices(hits), *_tutorial_notices(hits))
    return Batch(replace(contents, notices=notices), hits)


def _tutorial_notices(hits: Iterable[GivenHit]) -> Iterator[Notice]:
    if n := sum(hit.count(Kind.TUTORIAL) for hit in hits):
        message = (
            f"Items of the tutorial, which are rated and never analysed: {n:,}. Workers do not see what they teach: "
            "say it in the instructions."
        )
        yield Notice("tutorial", message)


def _placed(items: Sequence["_Item"]) -> list["_Item"]:
    """Return the items with sources of their own, where tasks number their items anew: then a source is a document's
    place. `sourceID` is the data set there."""
    texts: dict[tuple[str, str], set[str]] = {}
    for item in items:
        texts.setdefault(item.source, set()).add(item.source_text)
    is_numbered_anew = any(len(of_source) > 1 for of_source in texts.values())
    if not is_numbered_anew or not all(item.document for item in items):
        return list(items)
    place: Counter[tuple[int, str]] = Counter()
    found = []
    for item in items:
        place[item.task, item.document_as_shown] += 1
        number = str(place[item.task, item.document_as_shown])
        found.append(replace(item, source=(item.document, number)))
    return found


def _workers_notices(hits: Iterable[GivenHit]) -> Iterator[Notice]:
    wanted = {hit.n_workers for hit in hits}
    if len(wanted) > 1:
        yield Notice(
            "workers_differ",
            f"The tasks ask for {min(wanted)} to {max(wanted)} workers. A campaign has one number for all of its HITs: "
            f"{max(wanted)}, unless you change it under HITs.",
        )


@dataclass(frozen=True)
class _Item:
    """One item of a task, with its place in the file."""

    task: int
    position: int
    kind: Kind
    source: tuple[str, str]
    source_text: str
    target: str
    text: str
    document: str = ""
    document_as_shown: str = ""

    @property
    def systems(self) -> list[str]:
        """The systems that gave the text: several where the target is `a+b`."""
        names = self.target.split("+")
        return names if all(names) else [self.target]

    def problem(self, key: str, code: str, message: str) -> Problem:
        """Return a problem of this item."""
        return _problem(self.task, self.position - 1, key, code, message)


def _problem(task: int, item: int, key: str, code: str, message: str) -> Problem:
    return Problem(None, f"[{task}].items[{item}].{key}", f"task {task + 1}, item {item + 1}: {message}", code)


def _load(path: Path, file: str) -> list[dict[str, Any]]:
    """Return the tasks; raise TableError if the file holds something else."""
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        message = f"the file is not JSON ({error.msg}, at character {error.colno}). Export it from Appraise again."
        raise TableError(file, [Problem(error.lineno, None, message, "bad_json")]) from None
    except UnicodeDecodeError:
        raise TableError(file, [Problem(None, None, "the text is not UTF-8. Save it as UTF-8.", "encoding")]) from None
    except (RecursionError, ValueError):  # a number of thousands of digits
        message = "this is nested too deep, or a number is too long. Export the file again."
        raise TableError(file, [Problem(None, None, message, "bad_json")]) from None
    for n, task in enumerate(tasks):
        if not isinstance(task, dict) or not isinstance(task.get("items"), list) or not task["items"]:
            message = f"task {n + 1} has no items. Each task is an object with a list “items”."
            raise TableError(file, [Problem(None, f"[{n}]", message, "no_items")])
        if len(task["items"]) > _MAX_ITEMS:
            message = f"task {n + 1} has {len(task['items']):,} items, and a HIT has at most {_MAX_ITEMS:,}."
            raise TableError(file, [Problem(None, f"[{n}]", message, "too_many_items")])
    return tasks


def _n_workers(task: dict[str, Any]) -> int:
    """Return how many workers a task asks for; 1 if it does not say."""
    settings = task.get("task")
    wanted = settings.get("requiredAnnotations", 1) if isinstance(settings, dict) else 1
    return min(max(1, wanted), _MAX_WORKERS) if isinstance(wanted, int) else 1


def _items(tasks: list[dict[str, Any]], problems: list[Problem], longest_text: int) -> Iterator[_Item]:
    """Yield every item that is one; add a problem for each other."""
    for n, task in enumerate(tasks):
        for k, item in enumerate(task["items"]):
            found = _item_problem(n, k, item, longest_text)
            if found is not None:
                problems.append(found)
                continue
            ids = {key: str(item[key]).strip() for key in _IDS}
            texts = {key: item[key].strip() for key in _TEXTS}
            source = (ids["sourceID"], ids["itemID"])
            yield _Item(
                n,
                k + 1,
                Kind.TUTORIAL if _is_tutorial(item) else _KINDS[item["itemType"]],
                source,
                texts["sourceText"],
                ids["targetID"],
                texts["targetText"],
                _document_of(item),
                str(item.get("documentID") or "").strip(),
            )


def _item_problem(n: int, k: int, item: Any, longest_text: int) -> Problem | None:
    """Return what is wrong with one item by itself."""
    if not isinstance(item, dict):
        return _problem(n, k, "", "bad_item", "this is not an object. Export the batches from Appraise again.")
    if str(item.get("itemType")) not in _KINDS:
        return _problem(n, k, "itemType", "bad_kind", f"the type must be one of {', '.join(_KINDS)}. Correct it.")
    if item.get("isCompleteDocument"):
        message = "this item is a whole document. Only batches of single segments are read."
        return _problem(n, k, "isCompleteDocument", "document", message)
    for key in _IDS:
        if isinstance(item.get(key), bool) or not isinstance(item.get(key), str | int) or not str(item[key]).strip():
            return _problem(n, k, key, "bad_id", "the id is missing. Write it: text or a number.")
    for key in (*_IDS, *_TEXTS):
        if _NOT_TEXT.search(str(item.get(key))):
            return _problem(n, k, key, "encoding", "this holds characters that are not text. Type it again.")
    for key in _TEXTS:
        if not isinstance(item.get(key), str) or not item[key].strip():
            return _problem(n, k, key, "empty_text", "the text is missing. Write it, or leave the item out.")
        if len(item[key].strip()) > longest_text:
            return _problem(n, k, key, "long_text", too_long("text", len(item[key].strip()), longest_text))
    if len(f"{item['sourceID']}:{item['itemID']}") > LONGEST_NAME:
        message = f"sourceID and itemID are longer than {LONGEST_NAME} characters. Shorten them."
        return _problem(n, k, "sourceID", "long_name", message)
    return None


def _is_tutorial(item: dict[str, Any]) -> bool:
    """Return whether an item teaches workers, and is nobody's output."""
    marked = item.get("mqm")
    is_step = "tutorial" in item or (isinstance(marked, dict) and "tutorial" in marked)
    return is_step or "tutorial" in str(item.get("documentID") or "").casefold()


def _document_of(item: dict[str, Any]) -> str:
    """Return the document of an item, without the system and copy that Appraise puts behind it; "" if it has none."""
    name = item.get("documentID")
    return document_name(name.strip()) if isinstance(name, str) and not _NOT_TEXT.search(name) else ""


def document_name(identifier: str) -> str:
    """Return the document that a documentID names, whatever its system and copy.

    >>> document_name("news.1#GPT#bad2"), document_name("en_#_news_#_7")
    ('news.1', 'en_#_news_#_7')
    """
    return _SUFFIX.split(identifier)[0]


def _name_of(source: tuple[str, str]) -> str:
    """Return what a source is called in the campaign."""
    return ":".join(source)


class _Book:
    """The sources and outputs of all items, and what each item stands for."""

    def __init__(self, items: Iterable[_Item], problems: list[Problem]) -> None:
        self._problems = problems
        self._sources: dict[tuple[str, str], _Item] = {}
        self._names: dict[str, _Item] = {}
        self._references: dict[tuple[str, str], str] = {}
        self._systems: dict[str, int] = {}
        # An output, by source and system: its number, its text and its source.
        self._outputs: dict[tuple[tuple[str, str], str], tuple[int, str]] = {}
        self._first_output: dict[tuple[str, str], int] = {}
        # Ordinary items of a task: by source and system, and by source.
        self._ordinary: dict[tuple[int, tuple[str, str], str], _Item] = {}
        self._ordinary_of_source: dict[tuple[int, tuple[str, str]], list[_Item]] = {}
        self._n_shared = self._n_without_twin = 0
        items = list(items)
        for item in items:
            self._add_source(item)
        # A repeat is its output word for word; it stands for it where the ordinary item is in no task.
        for kind in (Kind.ORDINARY, Kind.REPEAT):
            for item in items:
                if item.kind is kind:
                    self._add_outputs(item)

    def _add_source(self, item: _Item) -> None:
        first = self._sources.setdefault(item.source, item)
        if first.source_text != item.source_text:
            message = (
                f"the source text is not that of task {first.task + 1}, item {first.position}, which has the same "
                "itemID and sourceID. Give them one text, or each an itemID of its own."
            )
            self._problems.append(item.problem("sourceText", "field_differs", message))
        named = self._names.setdefault(_name_of(item.source), first)
        if named.source != item.source:
            message = (
                f"sourceID and itemID together are “{shorten(_name_of(item.source))}”, as those of task "
                f"{named.task + 1}, item {named.position} are. Change one of them."
            )
            self._problems.append(item.problem("sourceID", "duplicate_source", message))
        if item.kind is Kind.REFERENCE:
            self._references.setdefault(item.source, item.text)

    def _add_outputs(self, item: _Item) -> None:
        systems = item.systems
        self._n_shared += item.kind is Kind.ORDINARY and len(systems) > 1
        for system in systems:
            if len(system) > LONGEST_NAME:
                message = f"the system's name is longer than {LONGEST_NAME} characters. Shorten it."
                self._problems.append(item.problem("targetID", "long_name", message))
            self._systems.setdefault(system, len(self._systems))
            number, text = self._outputs.setdefault((item.source, system), (len(self._outputs), item.text))
            self._first_output.setdefault(item.source, number)
            if text != item.text:
                message = f"another item has another text of “{shorten(system)}” for this source. Give both the same."
                self._problems.append(item.problem("targetText", "output_differs", message))
        if item.kind is Kind.ORDINARY:
            for system in systems:
                self._ordinary.setdefault((item.task, item.source, system), item)
            self._ordinary_of_source.setdefault((item.task, item.source), []).append(item)

    def given(self, item: _Item) -> GivenItem:
        """Return what an item of a HIT stands for; one that stands for no output is a problem, but of a tutorial."""
        if item.kind is Kind.TUTORIAL:
            return GivenItem(item.kind, None, item.text, fields={SOURCE_FIELD: item.source_text})
        twin = self._twin_of(item)
        of = twin or item
        if item.kind is Kind.REFERENCE and twin is None:
            output = self._first_output.get(item.source)
        else:
            output = self._outputs.get((of.source, of.systems[0]), (None, ""))[0]
        if output is None:
            message = (
                "no TGT item gives the output that this is a copy of. Add it to a task, or leave this item out."
                if item.kind is Kind.DEGRADED
                else "no TGT item has this source. Add one, or leave this item out."
            )
            self._problems.append(item.problem("targetID", "no_output", message))
        self._n_without_twin += twin is None and item.kind in (Kind.DEGRADED, Kind.REPEAT)
        return GivenItem(item.kind, output or 0, item.text, twin.position if twin else None)

    def _twin_of(self, item: _Item) -> _Item | None:
        if item.kind is Kind.ORDINARY:
            return None
        if item.kind is Kind.REFERENCE:
            ordinary = self._ordinary_of_source.get((item.task, item.source), [])
            return ordinary[0] if len(ordinary) == 1 else None
        return self._ordinary.get((item.task, item.source, item.systems[0]))

    def contents(self, reference_field: str) -> Contents:
        """Return sources, systems and outputs; a source's reference goes into the field of that name, if any."""
        sources = list(self._sources)
        place = {source: n for n, source in enumerate(sources)}
        documents = [self._sources[source].document[:LONGEST_NAME] for source in sources]
        outputs = list(self._outputs.items())  # in the order of their numbers
        return Contents(
            sources=[
                SourceText(_name_of(source), self._fields(source, reference_field), document)
                for source, document in zip(sources, documents, strict=True)
            ],
            systems=list(self._systems),
            source=np.array([place[source] for (source, _), _ in outputs], np.int64),
            system=np.array([self._systems[system] for (_, system), _ in outputs], np.int64),
            texts=[text for _, (_, text) in outputs],
            notices=tuple(self._notices()),
        )

    def _fields(self, source: tuple[str, str], reference_field: str) -> dict[str, str]:
        fields = {SOURCE_FIELD: self._sources[source].source_text}
        reference = self._references.get(source)
        return {**fields, reference_field: reference} if reference_field and reference else fields

    def _notices(self) -> Iterator[Notice]:
        if self._n_shared:
            yield Notice(
                "shared_outputs",
                f"Items whose text several systems gave: {self._n_shared:,}. Each system has the output; the item's "
                "ratings count for the first system named only.",
            )
        if self._n_without_twin:
            yield Notice(
                "no_twin",
                f"Degraded items and repeats without the item they are a copy of in the same task: "
                f"{self._n_without_twin:,}. They do not enter worker tests.",
            )
