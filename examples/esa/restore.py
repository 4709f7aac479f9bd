"""Five small programs that give a text its capitals and punctuation back, and the table of what they wrote.

    python examples/esa/restore.py                   # writes outputs.csv beside this file

A program gets a sentence of the passages in ../mrc as it would be heard: in small letters, without punctuation. All use
the standard library only and write the same on every run. They are toy baselines. The human wrote the sentence.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
PASSAGES, OUTPUTS = HERE.parent / "mrc" / "outputs.csv", HERE / "outputs.csv"
COLUMNS = ["segment_id", "document", "source", "system", "output"]
N_PASSAGES, N_SENTENCES = 12, 4
JOINING = ("and", "but", "while", "which", "so", "because")
SHORT = ("a", "an", "the", "of", "in", "on", "to", "and", "or", "by", "for", "with", "is", "was", "are", "her", "its")


def hear(sentence: str) -> str:
    """Return a sentence in small letters, with nothing but words and figures."""
    return " ".join(re.findall(r"[\w’']+", sentence.lower()))


def full_stop(heard: str) -> str:
    """Return it with a capital at the beginning and a full stop at the end."""
    return f"{heard[:1].upper()}{heard[1:]}."


def commas(heard: str) -> str:
    """Return that with a comma before each joining word."""
    return full_stop(re.sub(rf" ({'|'.join(JOINING)})\b", r", \1", heard))


def headline(heard: str) -> str:
    """Return it with a capital for every word that is not short, as in a headline."""
    return full_stop(" ".join(word if word in SHORT else word.capitalize() for word in heard.split()))


def breathless(heard: str) -> str:
    """Return it with a full stop after every sixth word."""
    words = heard.split()
    return " ".join(full_stop(" ".join(words[k : k + 6])) for k in range(0, len(words), 6))


def mumble(heard: str) -> str:
    """Return it as it was heard, without its short words."""
    return " ".join(word for word in heard.split() if word not in SHORT)


PROGRAMS: dict[str, Callable[[str], str]] = {
    "commas": commas,
    "full-stop": full_stop,
    "headline": headline,
    "breathless": breathless,
    "mumble": mumble,
}


def read_passages() -> dict[str, str]:
    """Return the first passages by name; the questions on one are numbered."""
    with PASSAGES.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    passages = {row["source"].rpartition("-")[0]: row["passage"] for row in rows}
    return dict(list(passages.items())[:N_PASSAGES])


def main() -> None:
    """Write what each program makes of each sentence."""
    with OUTPUTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for document, passage in read_passages().items():
            sentences = re.split(r"(?<=[.?!])\s+", passage.strip())[:N_SENTENCES]
            for number, sentence in enumerate(sentences, start=1):
                heard = hear(sentence)
                written = {"human": sentence} | {name: program(heard) for name, program in PROGRAMS.items()}
                writer.writerows([f"{document}-{number}", document, heard, *each] for each in written.items())


if __name__ == "__main__":
    main()
