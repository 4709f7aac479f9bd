"""What the guides say of numbers, columns, options and events is what the code has."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command, load_command_class
from django.core.management.base import BaseCommand

from analysis.data.spans.weights import DEFAULTS
from analysis.methods.by_groups import MOST_GROUPS
from analysis.stats.designs import CHATS, TEXTS
from analysis.stats.quality import PRESETS, run_paired_test
from annotation.access.places import UNSTARTED
from annotation.chat.exports import DIALOGUE_COLUMNS
from annotation.export.rows import ASSIGNMENT_COLUMNS, ITEM_COLUMNS, RATING_COLUMNS
from campaigns.building.estimate import RATINGS_WANTED
from campaigns.contracts.attributes import MOST_ATTRIBUTES
from campaigns.contracts.events import EVENTS
from campaigns.contracts.protocol import Protocol
from campaigns.design.certainty import LIKING_VARIANCE, OUTPUT_VARIANCE, RESIDUAL_VARIANCE
from campaigns.design.drawing import FLOOR
from campaigns.design.raters import SITUATIONS, Raters
from campaigns.design.worker_test import NO_TEST
from campaigns.models import Campaign
from campaigns.protocols import list_protocols
from evalsite.accounts.models import Scope
from evalsite.help.guides import GROUPS

ROOT = Path(settings.BASE_DIR)
LONGEST_GUIDE, LONGEST_README = 12_000, 7_000
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def guide(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def test_guides_can_be_read_at_a_sitting() -> None:
    sizes = {each.name: len(guide(each.name).encode()) for each in GROUPS[0].guides}
    assert {name: size for name, size in sizes.items() if size > LONGEST_GUIDE} == {}
    assert len((ROOT / "README.md").read_bytes()) <= LONGEST_README


def test_the_readme_counts_the_campaigns_of_the_demo() -> None:
    parser = load_command_class("analysis", "demo").create_parser("evalsite", "demo")
    [only] = [action for action in parser._actions if action.dest == "only"]
    assert f"loads {WORDS[len(list(only.choices or ()))]} campaigns" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_the_table_of_protocols_has_each_with_its_hit(protocol: type[Protocol]) -> None:
    table = guide("protocols").partition("## What each presets")[2].partition("\n\nThe [method]")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| `")]
    [row] = [row for row in rows if f"`{protocol.slug}`" in row[0]]
    said = [int(number) for number in re.findall(r"\d+", row[3])]
    fields = ", ".join(f"`{each.name}`" if each.is_required else f"(`{each.name}`)" for each in protocol.screen.fields)
    assert (fields or "–") in row[1].split("; ")
    mix = protocol.mix
    parts = [mix.n_ordinary, mix.n_degraded, mix.n_repeat, mix.n_reference]
    if "the same" in row[3] or "as `" in row[3]:
        assert parts == [70, 10, 10, 10]
    elif protocol.slug == "compare-chats":
        assert said == parts[:2]
    elif protocol.chat:
        assert (said, mix.n_degraded) == ([mix.n_ordinary], 1)
    else:
        assert said == [part for part in parts if part]


def test_chatbots_have_as_many_protocols_as_the_table_says() -> None:
    n_dialogue = sum(bool({*protocol.writes} & {"chats", "dialogues", "replies"}) for protocol in list_protocols())
    assert f"{WORDS[n_dialogue]} protocols" in guide("protocols")


@pytest.mark.parametrize(("n_degraded", "said"), [(5, "p = 0.031"), (4, "0.0625")])
def test_what_the_worker_test_does_with_few_degraded_items(n_degraded: int, said: str) -> None:
    """Of a worker who rates all of them lower than their twins."""
    difference, worker = -np.arange(1.0, n_degraded + 1), np.zeros(n_degraded, dtype=np.int64)
    test = run_paired_test(difference, worker, 1, preset="paired-wilcoxon", alpha=0.05)
    assert float(said.removeprefix("p = ")) == pytest.approx(test.p_value[0], abs=0.0005)
    assert said in guide("first-campaign").partition("### The worker test")[2].partition("##")[0]


def test_the_lease_is_said() -> None:
    minutes = Campaign._meta.get_field("lease_minutes").default
    assert f"after the *lease*, {minutes} minutes" in guide("first-campaign")
    assert f"{minutes} minutes by default" in guide("ethics")
    assert f"| lease | {minutes} minutes" in guide("design")


def section_of(name: str, heading: str) -> str:
    """Return what is below a heading of a document in docs/, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", guide(name), re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


@pytest.mark.parametrize("command", ["analyse", "agreement", "metrics", "plan", "simulate"])
def test_every_option_of_a_command_is_documented(command: str) -> None:
    """How files are read is said once, of analyse."""
    app = "annotation" if command == "simulate" else "analysis"
    of_command, of_all = (
        {option for action in parser._actions for option in action.option_strings}
        for parser in (load_command_class(app, command).create_parser("", command), BaseCommand().create_parser("", ""))
    )
    named = {*re.findall(r"--[a-z][a-z-]+", section_of("commands", f"evalsite {command}"))}
    assert named <= of_command
    of_analyse = {*re.findall(r"--[a-z][a-z-]+", section_of("commands", "evalsite analyse"))}
    assert of_command - of_all - (of_analyse if command in ("agreement", "metrics") else set()) <= named


@pytest.mark.parametrize(
    ("heading", "columns"),
    [
        ("Files of a campaign", RATING_COLUMNS),
        ("Files of a campaign", ASSIGNMENT_COLUMNS),
        ("Files of a campaign", ITEM_COLUMNS),
        ("Chats", DIALOGUE_COLUMNS),
    ],
)
def test_columns_of_exports_are_documented(heading: str, columns: tuple[str, ...]) -> None:
    assert f"`{', '.join(columns)}`" in section_of("exports", heading)


def test_events_of_webhooks_are_documented() -> None:
    for name, event in EVENTS.items():
        row = next(line for line in guide("webhooks").splitlines() if line.startswith(f"| `{name}` |"))
        assert all(f"`{field.name}`" in row for field in fields(event) if field.name not in ("event", "title"))


def test_scopes_presets_and_lists_of_plug_ins_are_those_of_the_code() -> None:
    assert re.findall(r"^\| `(\w+)` \|", section_of("api", "Tokens"), re.MULTILINE) == Scope.values
    table = guide("method/worker-test").partition("\n## ")[0]
    presets = re.findall(r"^\| `([\w-]+)`(?: \(\w+\))? \|", table, re.MULTILINE)
    assert {*presets} == {*PRESETS, NO_TEST}
    lists = re.findall(r"`(EVALSITE_\w+)` \|$", section_of("plugins", "Kinds of plug-ins"), re.MULTILINE)
    assert len(lists) == 10
    assert all(isinstance(getattr(settings, name), list | dict) for name in lists)


def test_numbers_of_planning_and_of_errors_are_those_of_the_code() -> None:
    rows = section_of("method/planning", "The model")
    for model in (TEXTS, CHATS):
        numbers = model.liking, model.source, model.output, model.residual, model.criterion, model.degradation
        assert " | ".join(f"{each:g}" for each in numbers if each) in re.sub(r"(\| )+\| ", "| ", rows)
    formula = section_of("method/planning", "The formula of *Who rates?*")
    for variance in (LIKING_VARIANCE, OUTPUT_VARIANCE, RESIDUAL_VARIANCE):
        assert f"| {variance} |" in formula
    weights = guide("method/error-spans")
    assert all(f"| {weight:g} |" in weights for weight in DEFAULTS.values())


def test_limits_and_rules_are_those_of_the_code() -> None:
    assert f"at most {settings.MAX_UPLOAD_MB} MB" in guide("outputs")
    assert f"{settings.LONGEST_TEXT:,} characters" in guide("outputs")
    assert f"| at most {MOST_ATTRIBUTES}, not shown" in guide("outputs")
    assert f"at most {MOST_GROUPS}." in section_of("ratings", "Groups")
    assert f"fewer than {RATINGS_WANTED} ratings" in guide("design")
    assert f"after {UNSTARTED.seconds // 60} minutes" in guide("design")
    assert f"ε = {FLOOR}" in guide("method/looking-early")
    assert FLOOR == 0.25, "a quarter, as the page of the design says"
    assert f"{SITUATIONS[Raters.CROWD].share_counted:.0%} are".replace("%", " %") in guide("design")
    for raters in (Raters.LAB, Raters.EXPERTS):
        assert f"about {SITUATIONS[raters].minutes_per_hit} minutes" in guide("design")


@pytest.mark.parametrize(
    ("command", "headings"),
    [
        ("analyse", ("JSON of every method", "JSON of direct assessment")),
        ("agreement", ("JSON of agreement",)),
    ],
)
def test_keys_of_results_are_documented(command: str, headings: tuple[str, ...]) -> None:
    printed = StringIO()
    ratings = str(ROOT / "examples/ratings.csv")
    call_command(command, ratings, "--protocol", "mrc-adequacy", "--format", "json", stdout=printed, stderr=StringIO())
    named = {*re.findall(r"\w+", " ".join(section_of("exports", heading) for heading in headings))}
    assert [key for key in keys_of(json.loads(printed.getvalue())) if key not in named] == []


def keys_of(found: object) -> Iterator[str]:
    """Yield the keys of a result and of its parts that have fixed keys, of lists those of the first entry."""
    if isinstance(found, list) and found:
        yield from keys_of(found[0])
    if isinstance(found, dict):
        yield from found
        for name in ("workers", "references", "systems", "significance", "pairs"):
            yield from keys_of(found.get(name))
