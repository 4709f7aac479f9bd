"""Numbers of the guides that the code knows are those of the code."""

import re
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import load_command_class

from analysis.stats.quality import run_paired_test
from campaigns.contracts.protocol import Protocol
from campaigns.models import Campaign
from campaigns.protocols import list_protocols

ROOT = Path(settings.BASE_DIR)
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def guide(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def test_the_readme_counts_the_campaigns_of_the_demo() -> None:
    parser = load_command_class("analysis", "demo").create_parser("evalsite", "demo")
    [only] = [action for action in parser._actions if action.dest == "only"]
    assert f"loads {WORDS[len(list(only.choices or ()))]} campaigns" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_the_table_of_protocols_has_each_with_its_hit(protocol: type[Protocol]) -> None:
    table = guide("protocols").partition("## What each presets")[2].partition("\n\nThe [method]")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| `")]
    [row] = [row for row in rows if f"`{protocol.slug}`" in row[0]]
    said = [int(number) for number in re.findall(r"\d+", row[2])]
    mix = protocol.mix
    parts = [mix.n_ordinary, mix.n_degraded, mix.n_repeat, mix.n_reference]
    if "the same" in row[2] or "as `" in row[2]:
        assert parts == [70, 10, 10, 10]
    elif protocol.slug == "compare-chats":
        assert said == parts[:2]
    elif protocol.chat:
        assert (said, mix.n_degraded) == ([mix.n_ordinary], 1)
    else:
        assert said == [part for part in parts if part]


def test_chatbots_have_as_many_protocols_as_the_table_says() -> None:
    n_dialogue = sum(protocol.group == "Dialogue" for protocol in list_protocols())
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
