"""Whole campaigns on crowd platforms: published, worked at in the platform's own pages, checked, paid.

One HIT is rated by hand: at Mechanical Turk in a frame of another origin, by HTTPS, without third-party cookies;
simulated workers do the rest. What was made and paid is read from the platforms' own records.
"""

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign, create_campaign
from campaigns.services.design import change_design
from campaigns.services.hits import build_hits
from crowd.models import Order, Submission
from evalsite.accounts.models import User
from evalsite.jobs.running import run_job
from simulators.ledger import Effect
from simulators.prolific import WORKSPACE
from simulators.prolific.workspaces import PROJECT
from simulators.running import KEY_ID, SECRET_KEY, TOKEN
from tests.campaigns.cast import add_outputs
from tests.e2e.crowd.conftest import Simulator
from tests.e2e.researcher import save
from tests.services import wait_until

pytestmark = pytest.mark.usefixtures("in_site")
N_HITS, N_WORKERS, HIT_SIZE = 6, 2, 7
JOB_MS, ORDERS_S = 60_000, 120
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
OpenPage = Callable[..., Page]
Pane = Page | FrameLocator


# --- What a researcher does


def set_up(tab: Page, platform: str, currency: str) -> str:
    """Make a campaign of six HITs of 7 items for two workers each, and choose its platform; return its address."""
    owner = User.objects.get()
    campaign = create_campaign(owner=owner, protocol="qg", name=f"Questions, {platform}")
    add_outputs(campaign)
    hits = {"n_ordinary": 4, "n_degraded": 2, "n_repeat": 1, "n_hits": N_HITS, "seed": 7, "workers_per_hit": N_WORKERS}
    change_design(campaign=campaign, changes=hits)
    run_job(build_hits(campaign=campaign, user=owner).pk)
    pay = {"reward": Decimal("1.50"), "currency": currency, "minutes_per_hit": 6}
    change_campaign(campaign=campaign, changes=pay)
    address = f"/campaigns/{campaign.public_id}/"
    tab.goto(f"{address}platform/")
    tab.locator("#id_platform").select_option(platform)
    expect(tab.locator("#account")).to_be_visible()
    return address


def enter_keys(tab: Page, campaign: str, keys: dict[str, str]) -> None:
    tab.goto(f"{campaign}platform/")
    for name, key in keys.items():
        tab.locator(f"#keys [name=key_{name}]").fill(key)
    tab.get_by_role("button", name="Save keys").click()
    tab.wait_for_url("**/platform/#account")
    tab.get_by_role("button", name="Check the account").click()
    expect(tab.locator("#check")).to_contain_text("Balance")


def publish(tab: Page, campaign: str, n_hits: int, n_published: int) -> None:
    """Publish some HITs after a look at what they cost, and wait until they are out."""
    tab.goto(f"{campaign}platform/publish/?n_hits={n_hits}")
    tab.get_by_role("button", name=re.compile(f"Publish {n_hits} HITs")).click()
    question = tab.get_by_role("dialog")  # where the money is real
    expect(question.or_(tab.locator("#waves"))).to_be_visible()
    if question.is_visible():
        question.get_by_role("button", name=re.compile("Publish")).click()
    expect(tab.locator("#waves tbody tr")).to_have_count(n_published)
    expect(tab.locator("#waves tbody tr").get_by_text("Published", exact=True)).to_have_count(
        n_published, timeout=JOB_MS
    )


def sync(tab: Page, campaign: str, n_submitted: int) -> None:
    """Have the platform looked at, and wait until so many submissions are known."""
    tab.goto(f"{campaign}platform/")
    tab.get_by_role("button", name="Sync now").click()
    tab.wait_for_url("**/platform/#status")
    submitted = Submission.objects.filter(campaign=campaign_at(campaign), state=Submission.State.SUBMITTED)
    wait_until(lambda: submitted.count() == n_submitted, ORDERS_S, f"{n_submitted} submissions are seen")
    tab.goto(f"{campaign}payments/")
    expect(tab.get_by_text(f"Approve all complete work ({n_submitted}")).to_be_visible()


def pay(tab: Page, campaign: str) -> None:
    """Approve all complete work, and give a bonus to one worker."""
    n = N_HITS * N_WORKERS
    tab.get_by_role("link", name="Approve all complete work").click()
    tab.get_by_role("button", name=f"Approve {n}").click()
    tab.wait_for_url(f"{campaign}payments/")
    wait_for_orders(tab, campaign, "approve", n)
    tab.goto(f"{campaign}payments/")
    tab.locator(".pay-tick").first.check()
    tab.locator("#ticked").get_by_role("button", name="Give a bonus").click()
    tab.get_by_label("Bonus for each").fill("0.50")
    tab.get_by_label("Message to the workers").fill("Thank you for the helpful remarks.")
    tab.get_by_role("button", name="See what it costs").click()
    tab.get_by_role("button", name="Pay").click()
    tab.wait_for_url(f"{campaign}payments/")
    wait_for_orders(tab, campaign, "bonus", 1)


def wait_for_orders(tab: Page, campaign: str, kind: str, n: int) -> None:
    orders = Order.objects.filter(campaign=campaign_at(campaign), kind=kind, state=Order.State.DONE)
    wait_until(lambda: orders.count() == n, ORDERS_S, f"{n} orders of kind {kind} are done")
    tab.goto(f"{campaign}payments/orders/?kind={kind}&state=done")
    expect(tab.locator("caption").filter(has_text=re.compile(rf"^{n} order"))).to_be_visible()


def campaign_at(address: str) -> Campaign:
    return Campaign.objects.get(public_id=address.rstrip("/").rpartition("/")[2])


# --- What a worker does


def rate_all(pane: Pane) -> None:
    """Rate every item with the keyboard, and finish."""
    for position in range(1, HIT_SIZE + 1):
        expect(pane.get_by_role("heading", level=1)).to_have_text(f"Item {position} of {HIT_SIZE}")
        expect(pane.locator("[data-rating-next]")).to_be_visible()  # below the sliders: all are there
        sliders = pane.locator("[data-slider] input")
        for k in range(sliders.count()):
            sliders.nth(k).press(("End", "Home", "PageUp", "ArrowRight")[(position + k) % 4])
        pane.locator("[data-rating-next]").click()
    pane.get_by_label("Was anything unclear").fill("All clear.")
    pane.get_by_role("button", name="Finish").click()
    expect(pane.get_by_role("heading", level=1)).to_have_text("Thank you")


def refuses_cookies(page: Page, origin: str) -> bool:
    """Tell whether the page in the frame can keep no cookie."""
    frame = next(each for each in page.frames if each.url.startswith(origin))
    return not frame.evaluate("""() => {
        try { document.cookie = "kept=1; SameSite=None; Secure"; return document.cookie; } catch { return ""; }
    }""")


def targets(effects: list[Effect]) -> Counter[str]:
    return Counter(effect.target for effect in effects)


# --- The campaigns


def test_browser_mechanical_turk_from_keys_to_paid_workers(
    signed_in: Page, simulator: Simulator, address: str, open_page: OpenPage
) -> None:
    tab = signed_in
    campaign = set_up(tab, "mturk", "USD")
    enter_keys(tab, campaign, {"access_key_id": KEY_ID, "secret_access_key": SECRET_KEY})
    publish(tab, campaign, 3, 1)
    publish(tab, campaign, N_HITS - 3, 2)
    records = simulator.records("mturk")
    assert len(records.effects("create-hit")) == N_HITS

    worker = open_page()
    worker.goto(f"{simulator.mturk}/?worker=A1HANDMADE01")
    worker.get_by_role("link", name="Preview").first.click()
    frame = worker.frame_locator("iframe")
    expect(frame.get_by_text("Accept the HIT on the platform to begin.")).to_be_visible()
    assert refuses_cookies(worker, address)
    worker.get_by_role("button", name="Accept").click()
    frame.get_by_role("button", name="I understand").click()
    rate_all(frame)
    frame.get_by_role("button", name="Submit the HIT").click()
    expect(worker.get_by_role("link", name="More HITs")).to_be_visible()

    assert simulator.send_workers("mturk", 7, careless=0.25).errors == []
    assert len(targets(records.effects("submit"))) == N_HITS * N_WORKERS
    sync(tab, campaign, N_HITS * N_WORKERS)
    pay(tab, campaign)

    paid = targets(records.effects("approve"))
    assert set(paid) == set(targets(records.effects("submit")))
    assert set(paid.values()) == {1}
    assert len(records.effects("bonus")) == 1
    assert_verdicts(tab, campaign)
    assert_no_secret(tab, campaign, KEY_ID, SECRET_KEY)


def test_browser_prolific_from_keys_to_paid_workers(signed_in: Page, simulator: Simulator, open_page: OpenPage) -> None:
    tab = signed_in
    campaign = set_up(tab, "prolific", "GBP")
    save(tab, tab.locator("[name=option_workspace]"), WORKSPACE)  # there are two
    enter_keys(tab, campaign, {"token": TOKEN})
    publish(tab, campaign, N_HITS, 1)
    records = simulator.records("prolific")
    (study,) = records.all("study").values()
    assert (study["status"], study["project"]) == ("ACTIVE", PROJECT)
    assert len(records.effects("publish")) == 1

    worker = open_page(**PHONE)
    worker.goto(f"{simulator.prolific}/?participant={'a1' * 12}")
    worker.get_by_role("button", name="Take part in this study").click()
    worker.get_by_role("link", name="Open the study").click()
    worker.get_by_role("button", name="I understand").click()
    rate_all(worker)
    worker.get_by_role("link", name="Back to Prolific").click()
    expect(worker).to_have_url(re.compile(re.escape(simulator.prolific)))

    outcome = simulator.send_workers("prolific", N_HITS * N_WORKERS - 1, careless=0.2, max_tasks=1)
    assert outcome.errors == []
    sync(tab, campaign, N_HITS * N_WORKERS)
    pay(tab, campaign)

    paid = targets(records.effects("approve"))
    assert len(paid) == N_HITS * N_WORKERS
    assert set(paid.values()) == {1}
    assert_no_secret(tab, campaign, TOKEN)


def assert_verdicts(tab: Page, campaign: str) -> None:
    """The worker test has failed somebody, who is paid all the same."""
    tab.goto(f"{campaign}payments/")
    rows = tab.locator("table tbody tr").all_inner_texts()
    assert len(rows) == N_HITS * N_WORKERS
    assert any("failed" in row.lower() for row in rows)
    assert any("passed" in row.lower() for row in rows)
    assert all("approved" in row.lower() for row in rows)


def assert_no_secret(tab: Page, campaign: str, *secrets: str) -> None:
    for page in ("platform/", "payments/", "payments/orders/", "settings/", ""):
        tab.goto(f"{campaign}{page}")
        assert not any(secret in tab.content() for secret in secrets), page
