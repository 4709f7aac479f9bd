"""How people answer in a browser, each kind of response in three ways: by mouse, by keyboard alone, with a finger.

`n` is the number of the page, so that answers differ from page to page, and are the same on one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from playwright.sync_api import Locator, Page, expect

from tests.services import wait_until

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
_MOST_TABS, _DOUBLE_TAP_MS = 80, 900
_IS_FOCUSED = "(wanted) => wanted === document.activeElement"
# What is answered on a page; the record of how a text was changed has times in it.
_ANSWERED = """() => [...document.querySelectorAll("[name^=answer_]:not([data-edit-record])")].map((field) => [
    field.name, ["radio", "checkbox"].includes(field.type) ? field.checked : field.value])"""


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus."""
    for _ in range(_MOST_TABS):
        if wanted.evaluate(_IS_FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached with Tab")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _tap_into(field: Locator) -> None:
    """Tap a box, and wait for the keyboard; two taps at once on one place of the glass would be a double tap."""
    field.page.wait_for_timeout(_DOUBLE_TAP_MS)
    field.tap()
    expect(field).to_be_focused()


def _click_into(field: Locator) -> None:
    field.click()
    expect(field).to_be_focused()


def press_at(page: Page, slider: Locator, share: float) -> None:
    """Click a slider's track at a share of its length."""
    page.mouse.click(*_on_track(slider, share))


def _on_track(slider: Locator, share: float) -> tuple[float, float]:
    slider.scroll_into_view_if_needed()
    box = slider.locator("input").bounding_box()
    assert box
    return box["x"] + 14 + share * (box["width"] - 28), box["y"] + box["height"] / 2


# --- Sliders


def _share(n: int) -> float:
    return 0.2 + 0.06 * (n * 7 % 10)


def _slide_by_mouse(page: Page, asked: Locator, n: int) -> None:
    press_at(page, asked.locator("[data-slider]"), _share(n))


def _slide_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, asked.get_by_role("slider"))
    press(page, ("ArrowRight", "PageUp", "End", "Home")[n % 4])


def _slide_by_touch(page: Page, asked: Locator, n: int) -> None:
    page.touchscreen.tap(*_on_track(asked.locator("[data-slider]"), _share(n)))


# --- One of some points, options or outputs; several options


def _radio(asked: Locator, n: int) -> Locator:
    """Return the label of one of the radio buttons or boxes."""
    options = asked.locator("label:has(input:is([type=radio], [type=checkbox]))")
    return options.nth(n % options.count())


def _choose_by_mouse(page: Page, asked: Locator, n: int) -> None:
    _radio(asked, n).click()


def _choose_by_keys(page: Page, asked: Locator, n: int) -> None:
    wanted = _radio(asked, n).locator("input")
    if wanted.get_attribute("type") == "checkbox":
        tab_to(page, wanted)
        press(page, "Space")
        return
    tab_to(page, asked.get_by_role("radio").first)
    press(page, "Space", *["ArrowDown"] * (n % asked.get_by_role("radio").count()))
    expect(wanted).to_be_checked()


def _choose_by_touch(page: Page, asked: Locator, n: int) -> None:
    _radio(asked, n).tap()


# --- Numbers and texts


def _type_by_mouse(page: Page, asked: Locator, n: int) -> None:
    _click_into(asked.get_by_role("textbox"))
    page.keyboard.type(str(2 + n % 3))


def _type_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, asked.get_by_role("textbox"))
    page.keyboard.type(str(2 + n % 3))


def _type_by_touch(page: Page, asked: Locator, n: int) -> None:
    _tap_into(asked.get_by_role("textbox"))
    page.keyboard.type(str(2 + n % 3))


# --- One of the steps of an output


def _pick_step(page: Page, asked: Locator, n: int) -> None:
    """Choose in the browser's own list, which no test can point at."""
    asked.get_by_role("combobox").select_option(index=1 + n % 3)


def _step_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, asked.get_by_role("combobox"))
    press(page, *["ArrowDown"] * (1 + n % 3))


# --- Marked errors


def _word(page: Page, asked: Locator, n: int) -> Locator:
    return _marked_text(asked).locator("[data-start]").nth(n % 5)


def _marked_text(asked: Locator) -> Locator:
    """Return the text that is asked about: on pages of several outputs it is beside the question."""
    around = asked.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' output ') or self::form][1]")
    return around.locator('[data-spans-text="target"]')


def _panel(page: Page) -> Locator:
    return page.locator(".spans-panel:not([hidden])")


def _severity(page: Page) -> Locator:
    """Choose a category, if there are any; return the first severity."""
    category = _panel(page).get_by_role("combobox", name="Category")
    if category.count():
        category.select_option(index=1)
    return _panel(page).locator(".spans-severity").first


def _mark_by_mouse(page: Page, asked: Locator, n: int) -> None:
    _word(page, asked, n).click()
    _severity(page).click()


def _mark_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, _marked_text(asked))
    press(page, "ArrowRight", *["ArrowRight"] * (n % 3), "Enter")
    category = _panel(page).get_by_role("combobox", name="Category")
    if category.count():
        tab_to(page, category)
        press(page, "ArrowDown")
    tab_to(page, _panel(page).locator(".spans-severity").first)
    press(page, "Enter")


def _mark_by_touch(page: Page, asked: Locator, n: int) -> None:
    _word(page, asked, n).tap()
    if _panel(page).count() == 0 or not _panel(page).is_visible():
        _word(page, asked, n).tap()  # the last word, too
    _severity(page).tap()


# --- Corrected texts


def _edit_by_mouse(page: Page, asked: Locator, n: int) -> None:
    if n % 2:
        asked.get_by_role("checkbox").click()
    else:
        _click_into(asked.get_by_role("textbox"))
        page.keyboard.type("so ")


def _edit_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, asked.get_by_role("textbox"))
    press(page, "Control+End", *["Backspace"] * n)
    page.keyboard.type("!")


def _edit_by_touch(page: Page, asked: Locator, n: int) -> None:
    _tap_into(asked.get_by_role("textbox"))
    page.keyboard.type("so ")


# --- The best and the worst


def _ends(asked: Locator, n: int) -> list[tuple[Locator, int]]:
    """Return the two rows, each with the place of the output that is chosen there: the worst is the first one.

    With arrow keys one passes over what is chosen, and no output can be both.
    """
    best, worst = asked.get_by_role("radiogroup").all()
    return [(best, 1 + n % (best.get_by_role("radio").count() - 1)), (worst, 0)]


def _extremes_by_mouse(page: Page, asked: Locator, n: int) -> None:
    for row, place in _ends(asked, n):
        row.locator("label").nth(place).click()


def _extremes_by_keys(page: Page, asked: Locator, n: int) -> None:
    for row, place in _ends(asked, n):
        tab_to(page, row.get_by_role("radio").first)
        press(page, "Space", *["ArrowRight"] * place)


def _extremes_by_touch(page: Page, asked: Locator, n: int) -> None:
    for row, place in _ends(asked, n):
        row.locator("label").nth(place).tap()


# --- Rankings


def _rank_by_mouse(page: Page, asked: Locator, n: int) -> None:
    """Drag the last output before the first one."""
    handle = asked.get_by_role("button", name="Move").last
    handle.scroll_into_view_if_needed()
    box, first = handle.bounding_box(), asked.locator("[data-ranked]").first.bounding_box()
    assert box and first
    page.mouse.move(box["x"] + 15, box["y"] + 15)
    page.mouse.down()
    page.mouse.move(box["x"] + 15, first["y"] + first["height"] / 2, steps=8)
    page.mouse.up()


def _rank_by_keys(page: Page, asked: Locator, n: int) -> None:
    tab_to(page, asked.get_by_role("button", name="Move").last)
    press(page, "ArrowUp")


def _rank_by_touch(page: Page, asked: Locator, n: int) -> None:
    """Choose each rank in the phone's own list; a drag with a finger is tried in `test_browser_comparisons`."""
    letters = [row.get_attribute("data-ranked") for row in asked.locator("[data-ranked]").all()]
    for rank, letter in enumerate(letters, start=1):
        asked.get_by_role("combobox", name=f"Rank of {letter}").select_option(str(rank))


class Ways(NamedTuple):
    """How one kind of response is given, in each way of input: on a page, what is asked there, the page's number."""

    mouse: Callable[[Page, Locator, int], None]
    keyboard: Callable[[Page, Locator, int], None]
    touch: Callable[[Page, Locator, int], None]


WAYS: Mapping[str, Ways] = {
    "slider": Ways(_slide_by_mouse, _slide_by_keys, _slide_by_touch),
    "scale": Ways(_choose_by_mouse, _choose_by_keys, _choose_by_touch),
    "choice": Ways(_choose_by_mouse, _choose_by_keys, _choose_by_touch),
    "preference": Ways(_choose_by_mouse, _choose_by_keys, _choose_by_touch),
    "number": Ways(_type_by_mouse, _type_by_keys, _type_by_touch),
    "text": Ways(_type_by_mouse, _type_by_keys, _type_by_touch),
    "step": Ways(_pick_step, _step_by_keys, _pick_step),
    "spans": Ways(_mark_by_mouse, _mark_by_keys, _mark_by_touch),
    "edit": Ways(_edit_by_mouse, _edit_by_keys, _edit_by_touch),
    "best_worst": Ways(_extremes_by_mouse, _extremes_by_keys, _extremes_by_touch),
    "ranking": Ways(_rank_by_mouse, _rank_by_keys, _rank_by_touch),
}
"""By response kind."""


class Worker:
    """Somebody who does all in one way of input, the name of a field of `Ways`, beginning in a tab.

    `kinds`: of each statement of the campaign, its response kind.
    """

    def __init__(self, page: Page, way: str, kinds: Mapping[str, str]) -> None:
        self.page, self.way, self.kinds = page, way, kinds
        self.complaints: list[str] = []
        self._watched: list[Page] = []
        self._watch(page)

    def _watch(self, page: Page) -> None:
        self._watched.append(page)
        page.on("console", self._note)
        page.on("pageerror", self._note_error)

    def _note_error(self, error: Any) -> None:
        self.complaints.append(str(error))

    def new_tab(self) -> Page:
        page = self.page.context.new_page()
        self._watch(page)
        return page

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def leave(self) -> None:
        """Close other tabs than the first; no console complained."""
        first, *others = self._watched
        first.remove_listener("console", self._note)
        first.remove_listener("pageerror", self._note_error)
        for tab in others:
            tab.close()
        assert self.complaints == [], self.complaints

    def activate(self, wanted: Locator) -> None:
        """Press a button, choose an option or tick a box."""
        if self.way == "keyboard":
            tab_to(self.page, wanted)
            press(self.page, "Enter" if wanted.evaluate("(el) => el.matches('button, a')") else "Space")
        elif self.way == "touch":
            wanted.tap()
        else:
            wanted.click()

    def press(self, name: str) -> None:
        self.activate(self.page.get_by_role("button", name=name))

    def type(self, field: Locator, text: str) -> None:
        if self.way == "keyboard":
            tab_to(self.page, field)
        else:
            self.activate(field)
            expect(field).to_be_focused()
        self.page.keyboard.type(text)

    def heading(self) -> str:
        """Return the heading of the page, once all of it is there."""
        self.page.wait_for_load_state()
        return self.page.get_by_role("heading", level=1).inner_text()

    def next_page(self, act: Callable[[], None]) -> None:
        """Do what leads to a page with another heading, and wait for it."""
        before = self.heading()
        act()
        expect(self.page.get_by_role("heading", level=1)).not_to_have_text(before)
        self.page.wait_for_load_state()

    def asked(self) -> list[Locator]:
        return self.page.locator(".statement").all()

    def answer(self, asked: Sequence[Locator], n: int) -> None:
        """Answer what is asked; what an answer does not ask for is passed over."""
        for each in asked:
            if each.is_visible():
                text = each.locator(".statement-text").inner_text()
                kind = next(kind for statement, kind in self.kinds.items() if text.startswith(statement))
                getattr(WAYS[kind], self.way)(self.page, each, n)

    def go_on(self) -> None:
        """Send the page."""
        button = self.page.locator("[data-rating-next]")
        expect(button, f"with {self.page.evaluate(_ANSWERED)} one can go on").to_be_enabled()
        self.activate(button)

    def come_back(self) -> None:
        """Reload the page, then go on in a second tab: what was answered is still there."""
        before = self.page.evaluate(_ANSWERED)
        self.page.reload()
        self._see(before)
        first, self.page = self.page, self.new_tab()
        self.page.goto(first.url)
        self._see(before)

    def _see(self, answered: Any) -> None:
        """Wait until the page has these answers: its scripts put them back."""
        wait_until(lambda: self.page.evaluate(_ANSWERED) == answered, 20, "what was answered is there again")

    def rate_pages(self, link: str, pages: range, n_pages: int, *, n_inputs: int = 0, comes_back: bool = False) -> str:
        """Open the link of a HIT and rate these of its pages.

        After the last page of the HIT, return the completion code, and see that the browser keeps nothing; else "".
        Where workers chat, they send `n_inputs` messages. Who `comes_back` does so in the middle of the first page.
        """
        self.page.goto(link)
        what = "Chat" if n_inputs else "Item"
        begin = "I understand" if pages[0] == 1 else f"Continue with {what.lower()} {pages[0]} of {n_pages}"
        self.next_page(lambda: self.press(begin))
        for n in pages:
            comes_back_here = comes_back and n == pages[0]
            if n_inputs:
                self.chat(n_inputs, is_interrupted=comes_back_here)
            assert self.heading().startswith(f"{what} {n} of {n_pages}")
            asked = self.asked()
            self.answer(asked[:1], n)
            if comes_back_here:
                self.come_back()
                asked = self.asked()
            self.answer(asked[1:], n)
            if self.way == "touch":
                assert self.page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
            self.next_page(self.go_on)
        if pages[-1] < n_pages:
            return ""
        self.type(self.page.get_by_label("Was anything unclear"), "All clear.")
        self.next_page(lambda: self.press("Finish"))
        assert self.heading() == "Thank you"
        nothing = {"cookies": [], "origins": []}
        wait_until(lambda: self.page.context.storage_state() == nothing, 20, "nothing is kept")
        return self.page.locator("#code").inner_text()

    def chat(self, n_inputs: int, *, is_interrupted: bool) -> None:
        """Begin a chat, send messages, each with its reply or, of two chatbots at once, replies, and end it."""
        topic = self.page.get_by_label("What would you like to talk about?")
        if topic.count():
            self.type(topic, "the sea")
        self.activate(self.page.get_by_role("radio").first)
        self.press("Start the chat")
        self._wait_for_chat()
        n_chatbots = len(self.page.locator("[data-chat]").get_attribute("data-chat-names") or " ")
        for number in range(1, n_inputs + 1):
            self.type(self.page.get_by_label("Your message"), f"This is message {number}.")
            if is_interrupted and number == n_inputs:
                self._come_back_to_chat(f"This is message {number}.")
            if self.way == "keyboard":
                tab_to(self.page, self.page.get_by_label("Your message"))
                press(self.page, "Enter")
            else:
                self.press("Send")
            expect(self.page.locator(".log .turn-chatbot")).to_have_count(number * n_chatbots)
        self.next_page(lambda: self.press("Rate this chatbot" if n_chatbots == 1 else "Compare the chatbots"))

    def _wait_for_chat(self) -> None:
        expect(self.page.locator("#text:not([maxlength])")).to_be_attached()  # its script takes the limit away

    def _come_back_to_chat(self, typed: str) -> None:
        """Reload the chat, and look at it in a second tab: what was said and what is typed are still there."""
        n_turns = self.page.locator(".log .turn").count()
        self.page.reload()
        other = self.new_tab()
        other.goto(self.page.url)
        for each in (self.page, other):
            expect(each.locator(".log .turn")).to_have_count(n_turns)
            expect(each.get_by_label("Your message")).to_have_value(typed)
        other.close()
        self._wait_for_chat()
