"""Cut the example dialogues out of the Chit-Chat Challenge's data set.

    pip download --no-deps chitchat-dataset==0.9.0
    python examples/dialogue/make_dialogues.py chitchat_dataset-0.9.0-py3-none-any.whl

Writes dialogues.jsonl beside this file from the excerpts that excerpts.csv names: conversation, first turn, the turn
after the last, and a topic. The same on every run; it needs Python only.
"""

import argparse
import csv
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EXCERPTS, DIALOGUES = HERE / "excerpts.csv", HERE / "dialogues.jsonl"
DATA = "chitchat_dataset/dataset.json"


def turns_of(conversation: Mapping[str, Any]) -> list[str]:
    """Return what was said in turns: the messages that one speaker sent in a row are one."""
    messages = [message for group in conversation["messages"] for message in group]
    by_speaker = groupby(messages, key=lambda message: message["sender"])
    return [joined([" ".join(message["text"].split()) for message in group]) for _, group in by_speaker]


def joined(texts: list[str]) -> str:
    """Return messages as one text, with a full stop where one ended without and the next begins a sentence."""
    whole = ""
    for text in texts:
        if whole and whole[-1].isalnum() and text[:1].isupper():
            whole += "."
        whole += f" {text}"
    return whole.strip()


def excerpts(conversations: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the dialogues in the order of excerpts.csv."""
    with EXCERPTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            turns = turns_of(conversations[row["conversation"]])[int(row["first"]) : int(row["end"])]
            yield {"id": f"{row['conversation'][:8]}-{row['first']}", "topic": row["topic"], "turns": turns}


def main() -> int:
    """Write the file; return 0."""
    parser = argparse.ArgumentParser(description="Cut the example dialogues out of the Chit-Chat Challenge's data set.")
    parser.add_argument("wheel", type=Path, help="chitchat_dataset-0.9.0-py3-none-any.whl")
    parser.add_argument("--output", type=Path, default=DIALOGUES)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        conversations = json.loads(wheel.read(DATA))
    lines = [json.dumps(dialogue, ensure_ascii=False) for dialogue in excerpts(conversations)]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
