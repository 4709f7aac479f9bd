"""Traces of four agents on small tasks, made from the right steps that were written for each, and the table of them.

    python examples/agents/traces.py                 # writes outputs.csv beside this file

`planner` does what plans.toml says. The others do it with a fault of their own, the same on every run, so the first
wrong step of each trace is known. No tool was called and no site was opened: all of them are made up.
"""

import csv
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLANS, OUTPUTS = HERE / "plans.toml", HERE / "outputs.csv"
COLUMNS = ["source_id", "topic", "task", "system", "output", "wrong_step"]

HURRIED = ("This will do.", "I do it at once.", "I need not look any further.")
UNSURE = (
    "I am not sure that this worked. I call it again.",
    "The result is the same as before. I try once more.",
    "Perhaps it is different now. I repeat the call.",
    "Still the same. I call it again.",
)
GIVEN_UP = "I could not finish this task: I got the same result each time."
SECONDS_A_WORD, SECONDS_A_CALL = 0.12, 0.6
COST_A_CHARACTER = 0.000_004

Step = dict[str, Any]


def step_of(planned: Step) -> Step:
    """Return a step of a plan as it stands in a trace."""
    call = {"tool": planned["tool"], "arguments": planned["arguments"]}
    return {"thought": planned["thought"], "call": call, "result": planned["result"]}


def swap(steps: Sequence[Step], swaps: Sequence[tuple[str, str]], where: str) -> list[Step]:
    """Return steps with other words in the JSON of calls and results; raise ValueError for words that are in none."""
    texts = [json.dumps({"call": step["call"], "result": step["result"]}, ensure_ascii=False) for step in steps]
    for right, wrong in swaps:
        if not any(right in text for text in texts):
            raise ValueError(f"{where}: “{right}” is in no step.")
        texts = [text.replace(right, wrong) for text in texts]
    return [{"thought": step["thought"], **json.loads(text)} for step, text in zip(steps, texts, strict=True)]


def plan(task: dict[str, Any]) -> tuple[list[Step], str, int | None]:
    """Return all the right steps, the answer and that none is wrong."""
    return [step_of(each) for each in task["step"]], task["answer"], None


def hurry(task: dict[str, Any]) -> tuple[list[Step], str, int | None]:
    """Return the steps without the checks, a rash answer and the number of the first that goes wrong without them."""
    steps, fault = plan(task)[0], task["hasty"]
    first = fault["skips"][0]
    later = [step for number, step in enumerate(steps, start=1) if number > first and number not in fault["skips"]]
    hurried = [step | {"thought": HURRIED[place % len(HURRIED)]} for place, step in enumerate(later)]
    spoilt = swap(hurried, fault["swaps"], task["id"])
    return [*steps[: first - 1], *spoilt], fault["answer"], first + first_change(hurried, spoilt)


def slip(task: dict[str, Any]) -> tuple[list[Step], str, int | None]:
    """Return the steps with a wrong argument and what comes of it, a wrong answer and the number of that step."""
    steps, fault = plan(task)[0], task["careless"]
    before, planned = steps[: fault["slips"] - 1], steps[fault["slips"] - 1 :]
    spoilt = swap(planned, fault["swaps"], task["id"])
    return [*before, *spoilt], fault["answer"], fault["slips"] + first_change(planned, spoilt)


def first_change(planned: Sequence[Step], spoilt: Sequence[Step]) -> int:
    """Return the place of the first step that is not as planned, or of the answer, which comes after them."""
    changed = (place for place, pair in enumerate(zip(planned, spoilt, strict=True)) if pair[0] != pair[1])
    return next(changed, len(planned))


def loop(task: dict[str, Any]) -> tuple[list[Step], str, int | None]:
    """Return the steps with one repeated, the answer, unless it gives up, and the number of the first repetition."""
    steps, fault = plan(task)[0], task["looper"]
    number = fault["loops"]
    again = [steps[number - 1] | {"thought": thought} for thought in UNSURE[: 2 + len(task["id"]) % 3]]
    if fault["gives_up"]:
        return [*steps[:number], *again], GIVEN_UP, number + 1
    return [*steps[:number], *again, *steps[number:]], task["answer"], number + 1


AGENTS = {"planner": plan, "looper": loop, "hasty": hurry, "careless": slip}


def measure(steps: Sequence[Step], task: str) -> list[Step]:
    """Return the steps with seconds, more for longer ones, and costs, which grow as all is read again at each."""
    measured, n_read = [], len(task)
    for step in steps:
        text = json.dumps(step, ensure_ascii=False)
        n_read += len(text)
        seconds = round(SECONDS_A_CALL + SECONDS_A_WORD * len(text.split()), 1)
        measured.append(step | {"seconds": seconds, "cost": round(COST_A_CHARACTER * n_read, 4)})
    return measured


def main(outputs: Path = OUTPUTS) -> None:
    """Write what each agent does on each task."""
    tasks = tomllib.loads(PLANS.read_text("utf-8"))["task"]
    with outputs.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for task in tasks:
            for name, act in AGENTS.items():
                steps, answer, wrong = act(task)
                trace = json.dumps([*measure(steps, task["task"]), {"answer": answer}], ensure_ascii=False)
                writer.writerow([task["id"], task["topic"], task["task"], name, trace, wrong or ""])


if __name__ == "__main__":
    main()
