"""What the columns of a file are likely to mean, by their names."""

import re
from collections.abc import Sequence
from contextlib import suppress

from campaigns.contracts.protocol import Field, Screen, Written
from campaigns.formats import get_format, has_file_format
from campaigns.importing.layout import (
    ALTERNATIVE,
    DEGRADED,
    DOCUMENT,
    FIELD,
    OUTPUT,
    SOURCE,
    SYSTEM,
    SYSTEM_OUTPUT,
    FileLayout,
    described_by,
    is_in_output_object,
)
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Preview

_SOURCES = (
    "source_id", "source", "id", "item_id", "item", "segment_id", "segment", "seg_id", "seg", "sentence_id", "doc_id",
    "document_id", "question_id", "turn_id", "qid", "passage_id", "example_id", "example", "uid", "uuid", "key",
    "index", "row", "instance_id", "task_id", "prompt_id", "query_id", "image_id",
)  # fmt: skip
# Of whole dialogues; replies in one dialogue have different sources.
_DIALOGUES = ("dialogue_id", "dialog_id", "conversation_id", "chat_id", "session_id")
# What sources are parts of, beside a column of source ids.
_DOCUMENTS = ("document", "doc", "document_id", "doc_id")
_SYSTEMS = (
    "system",
    "system_id",
    "system_name",
    "sys",
    "model",
    "model_id",
    "model_name",
    "engine",
    "generator",
    "llm",
    "agent",
    "model_name_or_path",
)
_OUTPUTS = (
    "output", "system_output", "model_output", "text", "prediction", "hypothesis", "hyp", "response", "generated",
    "generated_text", "candidate", "completion", "translation", "summary", "answer", "question", "target",
    "reply", "dialogue", "dialog", "conversation", "transcript", "chat", "turns", "messages", "mt", "mt_output", "tgt",
    "caption", "code", "generation", "patch", "model_patch", "diff", "trace", "trajectory", "traj", "steps", "history",
)  # fmt: skip
# What other collections call the texts that screens show, by the names of the fields.
_FIELDS = {
    "context": ("prompt", "passage", "question", "document", "article", "source_text", "src"),
    "passage": ("context", "paragraph", "article", "text"),
    "question": ("query", "q"),
    "answer": ("answers", "gold_answer", "answer_text"),
    "reference": ("ref", "reference_answer", "gold", "gold_answer", "reference_translation", "reference_summary"),
    "source": ("source_text", "src", "source_sentence", "src_text", "document", "article"),
    "document": ("article", "doc", "source_text", "text", "body"),
    "dialogue": ("context", "history", "dialogue_history", "dialog", "conversation", "messages", "turns"),
}
# What outputs were made from, whatever a screen calls it.
_TEXTS = (
    "prompt", "instruction", "input", "query", "question", "passage", "paragraph", "article", "document", "context",
    "source_text", "src", "body", "original",
)  # fmt: skip
# Names of columns that tell what systems wrote; the first that fits counts.
_WRITTEN: tuple[tuple[Written, set[str]], ...] = (
    ("summaries", {"summary", "summaries", "referencesummary", "goldsummary", "article"}),
    ("translations", {"translation", "referencetranslation", "mt", "mtoutput", "src", "srctext", "sourcesentence"}),
    ("replies", {"reply", "dialoguehistory", "history"}),
    ("dialogues", {"dialogue", "dialog", "conversation", "transcript", "messages", "turns"}),
    ("answers", {"answer", "answers", "modelanswer", "goldanswer", "referenceanswer", "question"}),
    ("questions", {"passage"}),
    ("summaries", {"document"}),
    ("traces", {"trace", "trajectory", "traj", "steps"}),
    ("captions", {"caption", "image", "picture"}),
    ("code", {"diff", "patch", "modelpatch"}),
)
# Columns beside the outputs of a wide file that tell something of the source.
_NOTES = {
    "dataset", "split", "corpus", "domain", "topic", "title", "url", "link", "language", "lang", "date", "time",
    "category", "type", "kind", "comment", "comments", "note", "notes", "author", "licence", "license", "length",
}  # fmt: skip
_REFERENCE = "reference"  # outputs were not made from it: no other text takes its place
_LONGEST_NAME, _WORDS, _WORDS_OF_TEXT, _TRIED = 100, 2, 6, 3
_NUMBER = re.compile(r"\s*[+-]?[\d.,]+\s*%?\s*")


def guess_layout(preview: Preview, screen: Screen) -> FileLayout:
    """Return what a table's columns are used for, for a person to correct.

    Capitals, spaces and punctuation do not matter. A field's own name wins over every synonym, and an earlier synonym
    over a later one. Where no column names systems, the texts that are left are each a system's outputs.
    """
    columns = tuple(dict.fromkeys(name for name in preview.columns if name))
    roles = {column: SYSTEM_OUTPUT for column in columns if is_in_output_object(column)}
    if has_file_format(screen.formats):
        roles |= {column: ALTERNATIVE for column in columns if described_by(column, columns)}
    free = [column for column in columns if column not in roles]
    for each in screen.fields:
        _take(free, roles, FIELD + each.name, (each.name,))
    is_long = SYSTEM_OUTPUT not in roles.values() and _take(free, roles, SYSTEM, _SYSTEMS)
    systems = next((_cells(preview, column) for column, role in roles.items() if role == SYSTEM), [])
    unique = [column for column in free if _is_unique(preview, column, systems)]
    sources = (*_SOURCES, *_DIALOGUES) if not get_format(screen.output_format).is_shared else _SOURCES
    if not _take(unique, roles, SOURCE, sources):
        _take(free, roles, SOURCE, sources)
    free = [column for column in free if column not in roles]
    if SOURCE in roles.values():
        _take([column for column in free if _is_short(preview, column)], roles, DOCUMENT, _DOCUMENTS)
        free = [column for column in free if column not in roles]
    readable = [column for column in free if _is_readable(preview, column, screen.output_format)]
    if is_long:
        _take(readable, roles, OUTPUT, ("output", screen.output_label, *_OUTPUTS))
        free = [column for column in free if column not in roles]
        _take(free, roles, DEGRADED, ("degraded", "degraded_output", "degraded_text"))
    for each in screen.fields:
        if FIELD + each.name not in roles.values():
            _take(free, roles, FIELD + each.name, (each.label, *_FIELDS.get(each.name, ())))
    unknown = [each for each in screen.fields if FIELD + each.name not in roles.values()]
    required = [each for each in unknown if each.is_required and each.name != _REFERENCE]
    missing = required or (unknown[:1] if len(unknown) == len(screen.fields) else [])
    if len(missing) == 1:
        _take([column for column in free if _is_prose(preview, column)], roles, FIELD + missing[0].name, _TEXTS)
        free = [column for column in free if column not in roles]
    texts = [column for column in free if column in readable and _is_text(preview, column, screen.fields)]
    if is_long and OUTPUT not in roles.values() and len(texts) == 1:
        roles[texts[0]] = OUTPUT
    elif not is_long and SYSTEM_OUTPUT not in roles.values():
        roles |= dict.fromkeys(texts, SYSTEM_OUTPUT)
    lacking = [each for each in screen.fields if each.is_required and FIELD + each.name not in roles.values()]
    missing = [each for each in lacking if each.name != _REFERENCE]
    left = [each for each in columns if each not in roles and _plain(each) not in _NOTES and _is_prose(preview, each)]
    # A text may be called as what groups sources.
    left = left or [column for column in columns if roles.get(column) == DOCUMENT and _is_prose(preview, column)]
    if len(missing) == len(left) == 1:
        roles[left[0]] = FIELD + missing[0].name
    for column, role in list(roles.items()):
        if role == ALTERNATIVE and described_by(column, columns) not in roles:
            del roles[column]
    return FileLayout(preview.format, columns, {column: roles[column] for column in columns if column in roles})


def guess_written(preview: Preview) -> Written | None:
    """Return what systems wrote, by the names of the columns; None if they do not tell."""
    names = {_plain(column) for column in preview.columns}
    return next((written for written, telling in _WRITTEN if names & telling), None)


def _take(free: list[str], roles: dict[str, str], role: str, names: Sequence[str]) -> bool:
    """Give the role to the free column that has the first name there is; tell whether there is one."""
    for name in names:
        for column in free:
            if _plain(column) == _plain(name):
                roles[column] = role
                free.remove(column)
                return True
    return False


def _is_unique(preview: Preview, column: str, systems: Sequence[str]) -> bool:
    """Tell whether a column distinguishes the first rows: sources have ids of their own, and one output a system."""
    cells = list(zip(_cells(preview, column), systems, strict=False) if systems else _cells(preview, column))
    return len(set(cells)) == len(cells)


def _is_readable(preview: Preview, column: str, slug: str) -> bool:
    """Tell whether the format of outputs reads one of a column's first cells; files that cells name are not there."""
    if has_file_format([slug]):
        return True
    format = get_format(slug)
    for cell in filter(str.strip, _cells(preview, column)[:_TRIED]):
        with suppress(DomainError):
            format.read(cell, is_output=True)
            return True
    return False


def _is_short(preview: Preview, column: str) -> bool:
    """Tell whether a column may hold names: a document's name is one, its text is none."""
    is_text = _is_prose(preview, column, _WORDS_OF_TEXT)
    return not is_text and all(len(cell) <= _LONGEST_NAME for cell in _cells(preview, column))


def _is_prose(preview: Preview, column: str, n_words: int = _WORDS) -> bool:
    """Tell whether a column holds texts of several words."""
    words = [len(cell.split()) for cell in _cells(preview, column)]
    return bool(words) and sum(words) >= n_words * len(words)


def _is_text(preview: Preview, column: str, fields: Sequence[Field]) -> bool:
    """Tell whether a column may hold a system's outputs: it has cells, not all numbers, and is not about the source."""
    cells = [cell for cell in _cells(preview, column) if cell.strip()]
    about_source = {
        *_NOTES,
        *map(_plain, _SOURCES),
        "reference",
        *(_plain(name) for each in fields for name in _FIELDS.get(each.name, ())),
    }
    return bool(cells) and _plain(column) not in about_source and not all(_NUMBER.fullmatch(cell) for cell in cells)


def _cells(preview: Preview, column: str) -> list[str]:
    place = preview.columns.index(column)
    return [row[place] for row in preview.rows if place < len(row)]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
