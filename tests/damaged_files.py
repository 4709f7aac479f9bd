"""Files that are damaged in every way that files are, and everything that reads files."""

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.serializers.json import DjangoJSONEncoder
from openpyxl import Workbook
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from analysis.data.choices import Choices
from analysis.data.dialogues.corpus import load_corpus
from analysis.data.dialogues.loading import load_dialogues, load_work
from analysis.data.ratings.columns import guess_mapping, guess_scores
from analysis.data.ratings.loading import load_ratings
from analysis.data.ratings.sources import load_sources
from analysis.data.tools import Wanted, find_made, read_made
from analysis.data.tools.converting import convert, write_table
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.metrics.loading import load_segment_scores
from annotation.raters.lists import read_rater_file, read_raters
from campaigns.contracts.protocol import Field, Screen
from campaigns.dialogues import check_dialogues, parse_transcript
from campaigns.forms.design_file import DesignFileForm
from campaigns.importing.appraise import check_screen, is_batch, read_batch
from campaigns.importing.contents import Contents, notices_of
from campaigns.importing.guessing import guess_layout
from campaigns.importing.layout import FileLayout, check_layout
from campaigns.importing.packed import take_out
from campaigns.importing.tables import read_contents
from campaigns.protocols import get_protocol
from evalsite.lib.errors import DomainError
from evalsite.lib.packed_files import PackedFiles
from evalsite.lib.pictures import normalise
from evalsite.lib.tables import WINDOWS_1252, lines_if_windows, preview
from tests.campaigns.formats.pictures import drawn, file_of, zipped

TOOLS = Path(__file__).parent / "data" / "tools"
ITEMS = TOOLS / "potato_items.jsonl"

# --- Damage

_PIECES = (
    *(b'"', b'""', b'",\n"', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n\r\n", b"{", b"}", b"[", b"]", b"\\", b":"),
    *(b"1e309", b"-1e309", b"NaN", b"nan", b"Infinity", b"-5", b"1e-400", b"9" * 30, b"9" * 5000, b"0x1F", b"null"),
    *(b"true", b"-0", b"1,5", b"\x00", b"\x1a", b"\x7f", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"\\ud800", b"\\u0000", b"\xe9", b"\x81", b"\xc3", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae", b"\xc2\x85"),
    *(b"=1+1", b"'=1+1", b"[" * 3000, b'{"a":' * 3000, b"<!ENTITY a 'b'>", b"../../x", b"x" * 5000),
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "utf-7")


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return a file's bytes with one to three kinds of damage; one of them in 1,000 files is a cell of 10 MB."""
    data = content
    for _ in range(rng.randrange(1, 4)):
        data = rng.choice(_DAMAGES)(data, rng) or b"x"
    return data


def _cut(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    return data[:place] + data[place + rng.choice((1, 3, 40, 400, len(data))) :]


def _double(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    return data[:place] + data[place : place + rng.choice((1, 3, 40, 400))] + data[place:]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 5, 50))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_PIECES) + data[place:]


def _replace_value(data: bytes, rng: random.Random) -> bytes:
    """Put something else in the place of what is between two delimiters."""
    ends = [place for place, byte in enumerate(data[:100_000]) if byte in b',;\t\n:"']
    if len(ends) < 2:
        return data
    k = rng.randrange(len(ends) - 1)
    return data[: ends[k] + 1] + rng.choice(_PIECES) + data[ends[k + 1] :]


def _move_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    k = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines.insert(rng.randrange(len(lines) + 1), lines[k])
        case 1:
            del lines[k]
        case 2:
            rng.shuffle(lines)
        case _:
            lines[k] = b""
    return b"\n".join(lines)


def _swap(data: bytes, rng: random.Random) -> bytes:
    """Exchange a delimiter, a quote or a kind of line end everywhere, or on one line."""
    old, new = rng.choice(((b",", b";"), (b",", b"\t"), (b"\t", b","), (b'"', b"'"), (b"\n", b"\r"), (b"\n", b"\r\n")))
    return data.replace(old, new, rng.choice((-1, -1, 1, 5)))


def _encode(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    if rng.randrange(2):
        return text.encode(rng.choice(_ENCODINGS), "replace")
    place = rng.randrange(len(text) + 1)  # two encodings in one file
    return text[:place].encode() + "é".encode("latin-1") + text[place:].encode(rng.choice(_ENCODINGS), "replace")


def _lengthen(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    n = 10_000_000 if rng.random() < 0.01 else 70_000
    return data[:place] + rng.choice((b"x", b"x ", b"7", b'"', "é".encode())) * n + data[place:]


def _damage_archive(data: bytes, rng: random.Random) -> bytes:
    """Damage one file of an Excel workbook; of other files, some bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            parts = {name: old.read(name) for name in old.namelist()}
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, OSError, zipfile.zlib.error):
        return _flip(data, rng)
    if not parts:
        return data
    chosen = rng.choice(sorted(parts))
    parts[chosen] = rng.choice((_cut, _double, _flip, _insert, _replace_value))(parts[chosen] or b"x", rng)
    if not rng.randrange(6):
        del parts[chosen]
    with zipfile.ZipFile(made := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return made.getvalue()


_DAMAGES = (
    *(_cut, _double, _flip, _insert, _insert, _replace_value, _replace_value, _replace_value, _move_lines, _move_lines),
    *(_swap, _encode, _lengthen, _damage_archive),
)

# --- What reads files


@dataclass(frozen=True)
class Reader:
    """Something that reads a file, and a file that it takes."""

    name: str
    file: str
    content: bytes
    read: Callable[[Path], object]


DESIGN = {
    "format": "evalsite design",
    "version": 1,
    "campaign": {
        "protocol": "custom",
        "name": "Questions",
        "screen": {"fields": [{"name": "passage", "label": "Passage"}]},
        "platform_settings": {"access": "personal"},
        "reward": "1.50",
    },
    "criteria": [
        {"name": "fluent", "statement": "It reads well.", "settings": {}},
        {"name": "parts", "statement": "Which?", "response": "choice", "settings": {"options": "one\ntwo"}},
    ],
    "systems": [{"name": "alder", "is_human": False}],
    "sources": [{"name": "s1", "fields": {"passage": "A text."}, "outputs": {"alder": "An output."}}],
}
SCREEN = Screen(fields=(Field("passage", "Passage"), Field("answer", "Answer", is_required=False)))


def readers() -> list[Reader]:
    """Return everything that reads files, with each format that it reads."""
    found = [*_of_data(), *_of_responses(), *_of_other_files()]
    assert len({reader.name for reader in found}) == len(found)
    return found


def _csv(header: str, *rows: str) -> bytes:
    return "\n".join([header, *rows, ""]).encode()


OUTPUTS = _csv(
    "source_id,document,passage,answer,system,output",
    *(f'p{n},d1,"The sky, at {n}, is blue.",blue,{system},Is it {n}?' for n in range(4) for system in ("alder", "élm")),
)
RATINGS = _csv(
    "worker,assignment,hit,position,source,system,kind,criterion,score",
    *(
        f"w{w},a{w},h1,{n},q{n},{'AB'[n % 2]},ordinary,adequacy,{(7 * n + w) % 101}"
        for w in range(3)
        for n in range(1, 6)
    ),
)


def _formats(name: str, content: bytes, read: Callable[[Path], object]) -> Iterator[Reader]:
    """Yield a reader of tables with a table in each format."""
    yield Reader(f"{name} in CSV", "table.csv", content, read)
    table = arrow_csv.read_csv(io.BytesIO(content))
    yield Reader(f"{name} in JSON Lines", "table.jsonl", b"".join(map(_line, table.to_pylist())), read)
    book = Workbook()
    assert book.active is not None
    for row in (table.column_names, *(list(row.values()) for row in table.to_pylist())):
        book.active.append(row)
    book.save(saved := io.BytesIO())
    yield Reader(f"{name} in Excel", "table.xlsx", saved.getvalue(), read)
    parquet.write_table(table, written := pa.BufferOutputStream())
    yield Reader(f"{name} in Parquet", "table.parquet", written.getvalue().to_pybytes(), read)


def _line(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _of_data() -> Iterator[Reader]:
    yield from _formats("outputs", OUTPUTS, _read_outputs)
    documents = get_protocol("esa").screen
    of_documents = OUTPUTS.replace(b"passage", b"source")
    yield Reader("outputs of documents", "esa.csv", of_documents, lambda path: _read_outputs(path, documents))
    keys = ("itemID", "itemType", "sourceID", "sourceText", "targetID", "targetText", "documentID")
    items = [
        dict(
            zip(
                keys,
                (n, kind, "news", f"Source {n}", "alder", "Ein Text" if kind == "BAD" else "A text", "d1"),
                strict=True,
            )
        )
        for n in range(3)
        for kind in ("TGT", "BAD", "CHK")
    ]
    batch = json.dumps([{"items": items, "task": {"requiredAnnotations": 2, "batchNo": 1}}] * 2).encode()
    screen = get_protocol("da-translation").screen
    yield Reader("batches of Appraise", "batch.json", batch, lambda path: _read_outputs(path, screen))
    chats = json.dumps([{"speaker": "user", "text": "Hi"}, {"speaker": "bot", "text": "Hello, you"}])
    rows = b"".join(_line({"source_id": f"d{n}", "system": "alder", "output": json.loads(chats)}) for n in range(3))
    static = get_protocol("dialogue-static").screen
    yield Reader("dialogues to rate", "chats.jsonl", rows, lambda path: _read_outputs(path, static))
    transcript = b"A: Hello there.\nB: Hi! How are you?\nA: Fine.\nB: Good.\n"
    for name, text in (("transcripts", transcript), ("transcripts in JSON", chats.encode())):
        yield Reader(name, "chat.txt", text, lambda path: parse_transcript(path.read_text("utf-8", "surrogateescape")))


def _read_outputs(path: Path, screen: Screen = SCREEN) -> Contents:
    """Read a file of outputs as an upload and its import do; nothing in it may be what a database refuses."""
    if is_batch(path):
        check_screen(screen)
        contents = read_batch(path, screen, name="upload").contents
    else:
        encoding = WINDOWS_1252 if lines_if_windows(path, "upload") else "utf-8"
        layout = guess_layout(preview(path, "upload", encoding=encoding), screen)
        layout = FileLayout(layout.format, layout.columns, layout.roles, layout.labels, encoding)
        check_layout(layout, screen, is_open=True)
        contents = read_contents(path, layout, screen, name="upload")
        json.dumps(layout.to_json(), ensure_ascii=False).encode()
    json.dumps([notice.to_json() for notice in notices_of(contents, screen)])
    for text in _texts_of(contents):
        assert "\0" not in text
        text.encode()
    return contents


def _texts_of(contents: Contents) -> Iterator[str]:
    yield from contents.texts
    yield from contents.systems
    for source in contents.sources:
        yield source.name
        yield from source.fields.values()


_PLAIN = "worker,source,system,"
_RESPONSES: dict[str, tuple[str, bytes]] = {
    "votes": (
        "preference",
        _csv(
            "worker,source,system_a,system_b,winner",
            *(f"w{n % 2},s{n},A,B,{('A', 'B', 'tie')[n % 3]}" for n in range(6)),
        ),
    ),
    "rankings": (
        "ranking",
        _csv(_PLAIN + "rank", *(f"w{n % 2},s{n},{s},{k}" for n in range(4) for k, s in enumerate("ABC", 1))),
    ),
    "best and worst": (
        "best-worst",
        _csv("worker,source,best,worst,system_1,system_2,system_3", *(f"w{n % 2},s{n},A,C,A,B,C" for n in range(4))),
    ),
    "marked errors": (
        "mqm",
        _csv(
            "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
            *(
                f"{s}\td\td1\t{n}\tr{n % 2}\tEin Satz\tA <v>sentence</v>\tAccuracy/Omission\tmajor"
                for n in range(4)
                for s in "AB"
            ),
        ),
    ),
    "errors with places": (
        "mqm",
        _csv(
            "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tside\tstart\tend",
            *(f"A\t{n}\tr\tEin Satz\tA sentence\tOther\tminor\ttarget\t{n}\t{n + 2}" for n in range(6)),
        ),
    ),
    "errors and scores": (
        "esa",
        _csv("worker,source,system,document,score", *(f"w{n % 2},{n},{s},d,{9 * n}" for n in range(4) for s in "AB")),
    ),
    "labelled points": ("likert", _csv(_PLAIN + "criterion,score", *(f"w1,s{n},A,clarity,{n + 1}" for n in range(5)))),
    "choices": ("option-selection", _csv(_PLAIN + "answer,correct", *(f"w{n},s,A,yes;no,yes" for n in range(5)))),
    "choices of two criteria": (
        "option-selection",
        _csv(
            _PLAIN + "criterion,answer",
            *(f"w{n},s,A,{c},{a}" for n in range(3) for c, a in (("tone", "x"), ("ok", "yes"))),
        ),
    ),
    "edits": (
        "post-edit",
        _csv(_PLAIN + "output,edited,seconds,keystrokes", *(f"w,s{n},A,a text,the text,{n},{n}" for n in range(5))),
    ),
    "counts": ("fact-count", _csv(_PLAIN + "present,correct,missing", *(f"w,s{n},A,{n + 1},{n},0" for n in range(5)))),
    "magnitudes": ("rank-me", _csv(_PLAIN + "value,reference", *(f"w,s{n},A,{n + 1},10" for n in range(5)))),
    "sensible and specific": (
        "ssa",
        _csv(_PLAIN + "criterion,score", *(f"w,s,{s},{c},1" for c in ("sensible", "specific") for s in "AB")),
    ),
}


def _of_responses() -> Iterator[Reader]:
    yield from _formats("ratings", RATINGS, _read_ratings)
    wide = _csv("worker,source,system,adequacy,fluency", *(f"w{n},s{n},A,{n},{9 * n}" for n in range(8)))
    yield Reader("ratings, a criterion a column", "wide.csv", wide, _read_ratings)
    for name, (protocol, content) in _RESPONSES.items():
        yield Reader(name, "responses.csv", content, _method_reader(protocol))
    for path in sorted(TOOLS.iterdir()):
        if path != ITEMS:
            items = ITEMS if path.name.startswith("potato") else None
            yield Reader(f"{path.name} of another tool", path.name, path.read_bytes(), _tool_reader(items))


def _method_reader(protocol: str, items: Path | None = None) -> Callable[[Path], object]:
    settings = from_protocol(protocol)
    method = get_method(settings.method)
    return lambda path: method.read(ResponsesFile(path, Choices(items=items)), settings)


def _converted(path: Path, items: Path | None) -> None:
    """Turn a file of another tool into tables, as uploads are."""
    if made := find_made(path, items=items):
        tables = convert(made)
        for wanted in tables:
            write_table(io.StringIO(), tables, wanted)


_OF_TOOLS = ("esa", "mqm", "likert", "da-translation", "preference", "option-selection")


def _tool_reader(items: Path | None) -> Callable[[Path], None]:
    """Read a file of another tool as each method does that knows such files."""
    read: list[Callable[[Path], object]] = [_method_reader(name, items) for name in _OF_TOOLS]
    read.append(lambda path: load_ratings(path, criteria=["fluency"], choices=Choices(items=items)))
    read.append(lambda path: read_made(path, Wanted.SCORES, items=items))
    read.append(lambda path: _converted(path, items))

    def read_all(path: Path) -> None:
        refusals = []
        for each in read:
            try:
                each(path)
            except DomainError as error:
                refusals.append(error)
        if len(refusals) == len(read):
            raise refusals[0]

    return read_all


def _read_ratings(path: Path) -> object:
    """Read a file of ratings as an upload and its analysis do."""
    encoding = WINDOWS_1252 if lines_if_windows(path, "upload") else None
    sample = preview(path, "upload", encoding=encoding)
    mapping = guess_mapping(sample.columns, ["adequacy"])
    assert "\0" not in "".join(sample.columns)
    json.dumps([sample.columns, guess_scores(sample, mapping)], ensure_ascii=False).encode()
    return load_ratings(path, criteria=["adequacy"], encoding=encoding)


def _of_other_files() -> Iterator[Reader]:
    scores = _csv("metric,system,source,score", *(f"BLEU,{s},{n},0.{n}" for n in range(5) for s in "AB"))
    yield from _formats("scores of metrics", scores, lambda path: load_segment_scores(path, has_metrics=True))
    table = _csv("dialogue,speaker,text", *(f"d{n // 2},{'AB'[n % 2]},Hello {n}" for n in range(8)))
    yield Reader("a corpus", "corpus.csv", table, load_corpus)
    lines = b"".join(_line({"id": n, "topic": "t", "turns": ["Hi", "Hello", "Bye"]}) for n in range(4))
    yield Reader("a corpus of dialogues", "corpus.jsonl", lines, load_corpus)
    yield Reader("dialogues", "dialogues.jsonl", lines, lambda path: check_dialogues(path, name="upload"))
    chats = _csv(
        "worker,assignment,position,system,kind,topic,opinion,worker_inputs,worker_words,worker_chars,words_by_input",
        *(f"w{n},a{n},1,A,ordinary,tea,like,2,5,20,2 3" for n in range(4)),
    )
    yield Reader("chats", "chats.csv", chats, load_dialogues)
    work = _csv("worker,assignment,work_seconds,state", *(f"w{n},a{n},{60 * n},submitted" for n in range(4)))
    yield Reader("working times", "work.csv", work, lambda path: load_work(path, None))
    lengths = _csv("source,reference_words", *(f"q{n},{n}" for n in range(4)))
    yield Reader("lengths of sources", "sources.csv", lengths, load_sources)
    raters = _csv("name,email", *(f"Ada {n},ada{n}@example.org" for n in range(5)))
    yield from (each for each in _formats("raters", raters, _read_raters) if each.file in ("table.csv", "table.xlsx"))
    for format, name in (("JPEG", "a.jpg"), ("PNG", "a.png"), ("WEBP", "a.webp"), ("GIF", "a.gif"), ("BMP", "a.bmp")):
        yield Reader(
            f"pictures in {format}", name, file_of(drawn(1), format), lambda path: normalise(path.read_bytes())
        )
    tiff = file_of(drawn(1), "TIFF", compression="tiff_lzw")
    yield Reader("pictures in TIFF", "a.tif", tiff, lambda path: normalise(path.read_bytes()))
    packed = zipped({"outputs.csv": OUTPUTS, "a.png": file_of(drawn(1)), "b.jpg": file_of(drawn(2), "JPEG")})
    yield Reader("pictures in a zip", "upload.zip", packed, _read_packed)
    yield Reader("a design", "design.json", json.dumps(DESIGN).encode(), _read_design)


def _read_packed(path: Path) -> object:
    """Take a table and its pictures out of a zip, as an upload does."""
    with tempfile.TemporaryDirectory() as folder:
        tables, packed = take_out([("upload.zip", path)], Path(folder), 10**7)
        files = PackedFiles(packed)
        try:
            return tables, [files.read(files.find(name)) for name in files.names]
        finally:
            files.close()


def _read_design(path: Path) -> object:
    """Read a design file as the page does."""
    form = DesignFileForm({}, {"file": SimpleUploadedFile("design.json", path.read_bytes())})
    if not form.is_valid():
        raise DomainError("bad_design", "\n".join(form.errors["file"]))
    json.dumps(form.cleaned_data["file"].campaign, cls=DjangoJSONEncoder, ensure_ascii=False).encode()
    return form.cleaned_data["file"]


def _read_raters(path: Path) -> None:
    """Read a list of raters; what is wrong with it has a line and words."""
    text, _ = read_rater_file(path.read_bytes(), "upload")
    entries, problems = read_raters(text)
    assert all(problem.message for problem in problems)
    if not problems:
        for entry in entries:
            assert "\0" not in entry.name + entry.email
            f"{entry.name} {entry.email}".encode()
