"""Answers of five systems to everyday prompts, made from the one that was written, and the table of them.

    python examples/llm/answers.py                   # writes outputs.csv beside this file

`careful` is the written answer, of answers.toml. The others change it by fixed rules, the same on every run, so what is
wrong with each is known. They stand for ways of answering, not for any language model.
"""

import csv
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WRITTEN, OUTPUTS = HERE / "answers.toml", HERE / "outputs.csv"
COLUMNS = ["source_id", "topic", "prompt", "system", "output"]
ANOTHER = 5
"""How many prompts further on the one is that `off-topic` drifts to: more than a topic has."""

OPENINGS = (
    "Thank you for this question! It is one that many people ask, and it has a clear answer.",
    "That is a very good question, and it is worth taking a moment to look at it properly.",
    "I am happy to help you with this. Let us go through it together, one thing after another.",
)
REMARKS = (
    "> **Please note:** every situation is a little different, so see what fits yours.",
    "> **Good to know:** there is more than one way to go about this, and practice makes it easier.",
)
CLOSINGS = (
    "I hope that this helps! Do ask if you would like to know more about any of these points.",
    "Feel free to come back with further questions at any time. I wish you **every success**!",
)

_BLOCK = re.compile(r"```[\s\S]*?\n```|(?:(?!```)[^\n]+\n?)+")
_ITEM = re.compile(r"(?:-|\d+\.) ")
_REASON = re.compile(r"(?:[:;.,]|,? (?:so|because|unless|which))(?: .*)?$")


def blocks_of(text: str) -> list[str]:
    """Return the paragraphs, lists, tables and pieces of code of a text in Markdown."""
    return [block.strip() for block in _BLOCK.findall(text)]


def is_list(block: str) -> bool:
    """Return whether a block is a list."""
    return bool(_ITEM.match(block))


def brief(text: str) -> str:
    """Return the first paragraph, and code, formulas and steps without what explains them, or else the tables."""
    first, *others = blocks_of(text)
    kept = [block for block in others if is_list(block) or block.startswith(("```", "$$"))]
    kept = kept or [block for block in others if block.startswith("|")]
    return "\n\n".join([first, *map(_shorten_list, kept)])


def _shorten_list(block: str) -> str:
    return "\n".join(map(_shorten, block.split("\n"))) if is_list(block) else block


def _shorten(item: str) -> str:
    if "$" in item:
        return item
    mark, words = item.split(" ", 1)
    heading = re.match(r"\*\*(.+?)[.:]?\*\*", words)
    return f"{mark} {heading[1] if heading else _REASON.sub('', words)}"


def wordy(answer: dict[str, Any], number: int) -> str:
    """Return all of it under headings, between true sentences that say little: how many depends on the number."""
    first, *others = blocks_of(answer["text"])
    padding = number % 3
    parts = [f"## {answer['title']}", first, "### The details", *others, CLOSINGS[number % len(CLOSINGS)]]
    if padding:
        parts[1:1] = [OPENINGS[number % len(OPENINGS)], answer["more"]]
        summary = first.rstrip(":.")
        parts[-1:-1] = ["### Conclusion", f"**To sum up:** {summary}."]
    if padding == 2:
        steps = [item for block in others if is_list(block) for item in map(_shorten, block.split("\n"))]
        parts[-1:-1] = ["### Once more, in short", "\n".join(steps)] if steps else []
        parts[-1:-1] = REMARKS
    return "\n\n".join(parts)


def sloppy(answer: dict[str, Any]) -> str:
    """Return it with words that make it wrong, and without the last step of its first long list."""
    text = answer["text"]
    for right, wrong in answer["wrong"]:
        if right not in text:
            raise ValueError(f"{answer['id']}: “{right}” is not in the answer.")
        text = text.replace(right, wrong)
    blocks = blocks_of(text)
    for place, block in enumerate(blocks):
        items = block.split("\n")
        if is_list(block) and len(items) > 2:
            blocks[place] = "\n".join(items[:-1])
            break
    return "\n\n".join(blocks)


def off_topic(text: str, other: str) -> str:
    """Return the first paragraph, and what follows in the answer to another prompt."""
    return "\n\n".join([*blocks_of(text)[:1], *blocks_of(other)[1:]])


def answers_of(written: Sequence[dict[str, Any]], number: int) -> dict[str, str]:
    """Return what each system answers to a prompt."""
    answer = written[number]
    return {
        "careful": answer["text"].strip(),
        "wordy": wordy(answer, number),
        "brief": brief(answer["text"]),
        "sloppy": sloppy(answer),
        "off-topic": off_topic(answer["text"], written[(number + ANOTHER) % len(written)]["text"]),
    }


def main(outputs: Path = OUTPUTS) -> None:
    """Write what each system answers to each prompt."""
    written = tomllib.loads(WRITTEN.read_text("utf-8"))["answer"]
    with outputs.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, answer in enumerate(written):
            of_source = [answer["id"], answer["topic"], answer["prompt"]]
            writer.writerows([*of_source, *each] for each in answers_of(written, number).items())


if __name__ == "__main__":
    main()
