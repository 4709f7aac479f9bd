"""A campaign of every protocol in a browser: set up by hand, rated by hand, finished by a simulated crowd, analysed.

Of three systems whose true order is known the results must show this order, and that the careless workers failed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Browser, Page

from campaigns.contracts.protocol import Protocol
from campaigns.design.paging import PageKind
from campaigns.formats import get_format, has_file_format
from campaigns.protocols import list_protocols
from campaigns.responses import list_response_kinds
from evalsite.accounts.models import User
from tests.campaigns.formats.pictures import drawn, file_of, zipped
from tests.conftest import signed_in
from tests.e2e import researcher
from tests.e2e.answering import PHONE, WAYS, Worker

pytestmark = pytest.mark.django_db(transaction=True)
IN_TURN = ("mouse", "keyboard", "touch")
SYSTEMS = {"alpha": 0.9, "beta": 0.0, "gamma": -0.9}
CLOSE = {"alpha": 0.5, "beta": 0.0, "gamma": -0.5}  # so that a degraded output of the best loses to the worst one
BOTS = "campaigns.connectors.python.demo_bots"
CHATBOTS = {"Plain": 1.2, "Attentive": 0.0, "Forgetful": -1.2}


@dataclass(frozen=True)
class Trial:
    """How a protocol is tried: fields of the design, what files have in a column, and the simulated crowd.

    The crowd has `n_workers`, a third of them careless, who do `n_hits` each. Chats have `n_inputs`, at least.
    """

    design: Mapping[str, Any] = field(default_factory=lambda: SMALL)
    texts: Mapping[str, str] = field(default_factory=dict)
    n_workers: int = 5
    n_hits: int = 4
    quality: Mapping[str, float] = field(default_factory=lambda: SYSTEMS)
    seed: int = 4
    n_inputs: int = 1


SMALL = {"n_reference": 0, "n_repeat": 0, "n_degraded": 2, "n_ordinary": 2}
OF_THREE = {"outputs_per_page": 3}
CHATS = Trial({"n_ordinary": 3, "n_degraded": 1}, quality=CHATBOTS, n_workers=9, n_hits=1)
TRIALS: Mapping[str, Trial] = {
    "mrc-adequacy": Trial(),
    "mrc-fluency": Trial(),
    "qg": Trial({"n_degraded": 2, "n_repeat": 1, "n_ordinary": 3, "has_anchor": False}),
    "da-translation": Trial(),
    "da-summary": Trial(),
    "likert": Trial(),
    "preference": Trial(n_workers=4, n_hits=7, quality=CLOSE),
    "best-worst": Trial(SMALL | OF_THREE, n_workers=4, n_hits=7, quality=CLOSE),
    "ranking": Trial(SMALL | OF_THREE, n_workers=4, n_hits=7, quality=CLOSE),
    "rank-me": Trial(SMALL | OF_THREE),
    "magnitude": Trial(),
    "mqm": Trial(seed=2),
    "esa": Trial(),
    "llm-answer": Trial(),
    "llm-pair": Trial(n_workers=4, n_hits=7, quality=CLOSE),
    "conversation": Trial(),
    "agent-trace": Trial(),
    "code-review": Trial(),
    "caption": Trial(),
    "cesa": Trial(SMALL | OF_THREE),
    "sqm": Trial(),
    "da-document": Trial(),
    "custom": Trial(),
    "dialogue-free": CHATS,
    "dialogue-icebreaker": CHATS,
    "compare-chats": replace(CHATS, design={"n_ordinary": 3, "n_degraded": 6}, n_workers=3, n_hits=2),
    "ssa-chat": replace(CHATS, n_inputs=4, n_hits=2, quality={"Plain": 1.5, "Attentive": 0.2, "Forgetful": -1.2}),
    "dialogue-static": Trial(),
    "dialogue-turn": Trial(),
    "ssa": Trial(n_workers=4, n_hits=7, quality={"alpha": 1.0, "beta": 0.5, "gamma": -0.3}),
    "fact-count": Trial(),
    "option-selection": Trial({"n_ordinary": 3}, {"options": "red\ngreen\nblue", "correct": "red"}),
    "post-edit": Trial(),
}


@pytest.fixture(scope="module")
def tabs(browser: Browser, live_server: Any) -> Iterator[dict[str, Page]]:
    """A tab of the researcher's, one of workers and one on their phone: each new one costs as much as ten pages."""
    size = {"viewport": {"width": 1440, "height": 900}}
    windows = {
        name: browser.new_context(base_url=live_server.url, reduced_motion="reduce", **options)
        for name, options in {"researcher": size, "wide": size, "phone": PHONE}.items()
    }
    yield {name: context.new_page() for name, context in windows.items()}
    for context in windows.values():
        context.close()


@pytest.fixture
def tab(tabs: dict[str, Page], live_server: Any, owner: User) -> Iterator[Page]:
    """The researcher's tab; what the console complains of fails the test."""
    tab, complaints = tabs["researcher"], []
    cookie = signed_in(owner).cookies[settings.SESSION_COOKIE_NAME].value
    for each in tabs.values():  # what a test left that failed
        each.goto("about:blank")  # or an answer to the page before brings a CSRF cookie that is not the form's
        each.context.clear_cookies()
        everywhere = {"origin": "*", "storageTypes": "local_storage"}
        each.context.new_cdp_session(each).send("Storage.clearDataForOrigin", everywhere)
    tab.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])

    def note(said: Any) -> None:
        if getattr(said, "type", "error") in ("error", "warning"):
            complaints.append(getattr(said, "text", str(said)))

    tab.on("console", note)
    tab.on("pageerror", note)
    yield tab
    tab.remove_listener("console", note)
    tab.remove_listener("pageerror", note)
    assert complaints == []


def test_every_protocol_has_a_trial() -> None:
    assert set(TRIALS) == {each.slug for each in list_protocols()}


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_browser_a_campaign_of_every_protocol_from_its_creation_to_its_results(
    tab: Page, tabs: dict[str, Page], tmp_path: Path, protocol: type[Protocol]
) -> None:
    trial = TRIALS[protocol.slug]
    campaign = set_up(tab, protocol, trial, tmp_path)
    (link,) = researcher.personal_links(tab, campaign, ["ann"])
    kinds = {each.statement: each.response for each in protocol.criteria}
    n_pages = sum(trial.design.get(f"n_{kind}", 0) for kind in ("ordinary", "degraded", "repeat", "reference"))
    n_inputs = trial.n_inputs if protocol.chat else 0
    # A worker does a third of the HIT in each way; which is the first differs from protocol to protocol.
    turn = list_protocols().index(protocol) % 3
    for k, way in enumerate(IN_TURN[turn:] + IN_TURN[:turn]):
        worker = Worker(tabs["phone" if way == "touch" else "wide"], way, kinds)
        pages = range(k * n_pages // 3 + 1, (k + 1) * n_pages // 3 + 1)
        code = worker.rate_pages(link, pages, n_pages, n_inputs=n_inputs, comes_back=way == "touch")
        worker.leave()
    assert code

    careless = simulate(tmp_path, campaign, trial)
    researcher.run_jobs()
    assert researcher.ranked_systems(tab, campaign) == list(trial.quality)
    if protocol.worker_test != "none":
        found = researcher.verdicts(tab)
        careful = [f"simulated-{k}" for k in range(1, trial.n_workers + 1) if f"simulated-{k}" not in careless]
        assert len(careless) == round(trial.n_workers / 3)
        assert {name: found[name] for name in careless} == dict.fromkeys(careless, "failed")
        assert {name: found[name] for name in careful} == dict.fromkeys(careful, "passed")


def set_up(tab: Page, protocol: type[Protocol], trial: Trial, folder: Path) -> str:
    """Set a campaign up and launch it; return its address."""
    campaign = researcher.create_campaign(tab, protocol.title, f"Trial of {protocol.title}")
    n_hits = 1 + trial.n_workers * trial.n_hits
    if protocol.chat:
        for name in trial.quality:
            researcher.add_chatbot(tab, campaign, name, f"{BOTS}.{name}")
        tab.goto(f"{campaign}chat/")
        researcher.save(tab, tab.get_by_label("Messages of the worker, at least"), str(trial.n_inputs))
    else:
        rows = rows_of(protocol, trial, n_hits * trial.design["n_ordinary"])
        table = "\n".join(map(json.dumps, rows)).encode()
        named = {cell for row in rows for cell in row.values() if cell.endswith(".png")}
        files = {name: file_of(drawn(int(name.split("-")[1]))) for name in named}
        outputs = folder / ("outputs.zip" if files else "outputs.jsonl")
        outputs.write_bytes(zipped({"outputs.jsonl": table, **files}) if files else table)
        researcher.import_outputs(tab, campaign, outputs)
    researcher.fill_blanks(tab, campaign)
    researcher.set_option(tab, campaign, "Who may take part", "personal")
    researcher.design_hits(tab, campaign, **trial.design, n_hits=n_hits, seed=7)
    researcher.build_hits(tab)
    researcher.launch(tab, campaign)
    return campaign


def rows_of(protocol: type[Protocol], trial: Trial, n_pages: int) -> list[dict[str, str]]:
    """Return rows of a file: sources with the fields of the protocol's screen, and an output of each system."""
    rows = []
    n_together = 2 if protocol.page_kind is PageKind.DOCUMENT else 1
    for n in range(-(-n_pages * n_together // len(trial.quality))):
        source = {"source_id": f"source-{n:03}"}
        if protocol.page_kind is PageKind.DOCUMENT:
            source["document"] = f"document-{n // n_together:03}"
        for each in protocol.screen.fields:
            source[each.name] = trial.texts.get(each.name) or text_of(each.format, n)
        for k, system in enumerate(trial.quality, start=1):
            rows.append(source | {"system": system, "output": text_of(protocol.screen.output_format, n, k)})
    return rows


def text_of(format: str, n: int, k: int = 0) -> str:
    """Return a text of source `n`, by system `k`, whose words are its own."""
    parts = ("The mill", "by the river", "was sold", "to the town", "in spring", "with its wheel", "and its last owner")
    said = " ".join(f"{part}{n}-{k}" for part in parts)
    return f"picture-{n}-{k}.png" if has_file_format([format]) else get_format(format).example(said)


def simulate(folder: Path, campaign: str, trial: Trial) -> list[str]:
    """Let a crowd finish the campaign; return the careless workers' names."""
    quality = folder / "quality.json"
    quality.write_text(json.dumps(trial.quality))
    crowd = {"--workers": trial.n_workers, "--careless": 1 / 3, "--hits-per-worker": trial.n_hits, "--seed": trial.seed}
    options = [str(part) for option in crowd.items() for part in option]
    printed = StringIO()
    public_id = researcher.public_id_of(campaign)
    call_command(
        "simulate", public_id, "--quality", str(quality), "--verbose", *options, stdout=printed, stderr=StringIO()
    )
    assert "0 errors" in printed.getvalue()
    return re.findall(r"(simulated-\d+) \(", printed.getvalue())


def test_every_kind_of_response_can_be_given_in_each_way() -> None:
    assert {kind.slug for kind in list_response_kinds()} == set(WAYS)
