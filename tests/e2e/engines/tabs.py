"""A worker's tab in Firefox or in WebKit: what tests do in it, in the words of neither of their drivers."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

from selenium.common.exceptions import (
    ElementNotInteractableException,
    JavascriptException,
    NoSuchElementException,
    NoSuchFrameException,
    StaleElementReferenceException,
)
from selenium.webdriver import ActionChains, Keys, WebKitGTK
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait
from websocket import create_connection

from tests.services import wait_until

WAIT_S = 60
# Its driver tells nothing of the console.
_NOTE_ERRORS = """
    const found = window.complaints = [];
    for (const name of ["error", "unhandledrejection", "securitypolicyviolation"]) {
        const said = (event) => `${name}: ${event.message || event.reason || event.blockedURI}`;
        addEventListener(name, (event) => found.push(said(event)), true);
    }
    for (const name of ["error", "warn"]) console[name] = (...words) => found.push(words.join(" "));
"""

# Where an element that is in no other's way has its middle, or the label around it has: null until the page is whole.
MIDDLE = """(() => {
    const element = document.querySelector(`%s`), shown = element?.closest("label") ?? element;
    if (document.readyState !== "complete" || !shown) return null;
    shown.scrollIntoView({ block: "center", behavior: "instant" });  // questions stick below
    const { x, y, width, height } = shown.getBoundingClientRect();
    const middle = [x + width / 2, y + height / 2], top = document.elementFromPoint(...middle);
    return shown.contains(top) || top?.contains(shown) ? middle : null;
})()"""
# Its driver takes a finger for a mouse: these are the events that browsers send of a pointer, without what they do of
# themselves, such as to scroll; one that stays in its place ends with a click.
_POINT = """((pointerType, [x, y], steps) => {
    const target = document.elementFromPoint(x, y), pointerId = pointerType === "mouse" ? 1 : 7;
    for (const [type, right, down] of steps) {
        const at = { clientX: x + right, clientY: y + down };
        const pointer = { pointerId, pointerType, isPrimary: true, button: 0, bubbles: true };
        target.dispatchEvent(new PointerEvent(type, { ...pointer, ...at }));
    }
    if (steps.length === 2) target.dispatchEvent(new MouseEvent(
        "click", { bubbles: true, cancelable: true, composed: true, detail: 1, clientX: x, clientY: y }));
})(%s, %s, %s)"""


class Tab(Protocol):
    """What is done to an element waits until it is there. Elements are named by CSS selectors."""

    def open(self, url: str) -> None: ...

    def enter_frame(self) -> None:
        """From now on, act in the page's frame."""

    def resize(self, width: int) -> None:
        """Make the window so many pixels wide."""

    def click(self, selector: str) -> None: ...

    def touch(self, selector: str, *moves: tuple[int, int]) -> None:
        """Put a finger on an element, move it so far from there, right and down, in pixels, and lift it."""

    def press(self, selector: str, key: str) -> None:
        """Press a key in an element, which gets the focus."""

    def fill(self, selector: str, text: str) -> None: ...

    def choose(self, selector: str, place: int) -> None:
        """Choose the option in this place of a list, counted from 0."""

    def complaints(self) -> list[str]:
        """Return what went wrong in the page since it was opened; where nobody tells, once it was whole."""

    def wait_for_text(self, selector: str, text: str) -> None:
        """Wait until an element holds just this text."""

    def wait_for(self, selector: str, n: int = 1) -> None:
        """Wait until there are so many elements."""

    def run(self, script: str) -> Any:
        """Return what a JavaScript expression gives in the page."""


class FirefoxError(Exception):
    """What Firefox says of a command that it refuses."""


class Firefox:
    """A connection to Firefox, by WebDriver BiDi."""

    def __init__(self, address: str) -> None:
        self._socket = create_connection(f"{address}/session", timeout=WAIT_S, suppress_origin=True)
        self._numbers = count(1)
        self.complaints: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        # The first one never has the focus, without which Space presses nothing.
        self.tab = self.ask("browsingContext.create", type="tab")["context"]

    def close(self) -> None:
        self._socket.close()

    def ask(self, method: str, **params: Any) -> Any:
        """Return the answer to a command, and keep what the console said before; raise FirefoxError."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (said := json.loads(self._socket.recv())).get("id") != number:
            if said["method"] == "log.entryAdded" and said["params"]["level"] in ("error", "warn"):
                self.complaints.append(said["params"]["text"])
        if said["type"] == "error":
            raise FirefoxError(said["message"])
        return said["result"]


class FirefoxTab:
    """A tab that is driven by WebDriver BiDi: it has a finger, and a viewport of any width."""

    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox
        self._tab = self._frame = firefox.tab

    def open(self, url: str) -> None:
        for each in ("about:blank", url):  # of the page before nothing more is said than what was under way
            self._firefox.complaints.clear()
            self._firefox.ask("browsingContext.navigate", context=self._tab, url=each, wait="complete")

    def resize(self, width: int) -> None:
        self._firefox.ask("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": 900})

    def enter_frame(self) -> None:
        self._frame = self._firefox.ask("browsingContext.getTree", root=self._tab)["contexts"][0]["children"][0][
            "context"
        ]

    def click(self, selector: str) -> None:
        self._point("mouse", selector)

    def touch(self, selector: str, *moves: tuple[int, int]) -> None:
        self._point("touch", selector, *moves)

    def press(self, selector: str, key: str) -> None:
        self._type(selector, getattr(Keys, key.upper()))

    def fill(self, selector: str, text: str) -> None:
        self._type(selector, text)

    def choose(self, selector: str, place: int) -> None:
        self._type(selector, Keys.HOME + Keys.DOWN * place)

    def complaints(self) -> list[str]:
        self._firefox.ask("session.status")  # what was said before is read with its answer
        return self._firefox.complaints

    def wait_for_text(self, selector: str, text: str) -> None:
        self._until(f"document.querySelector(`{selector}`)?.innerText.trim() === {json.dumps(text)}")

    def wait_for(self, selector: str, n: int = 1) -> None:
        self._until(f"document.querySelectorAll(`{selector}`).length === {n}")

    def run(self, script: str) -> Any:
        [found] = self._until(f"document.readyState === 'complete' && [({script})]")
        return found

    def _point(self, kind: str, selector: str, *moves: tuple[int, int]) -> None:
        x, y = self._until(MIDDLE % selector)
        places = [
            {"type": "pointerMove", "x": round(x + right), "y": round(y + down)} for right, down in [(0, 0), *moves]
        ]
        steps = [places[0], {"type": "pointerDown", "button": 0}, *places[1:], {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": steps})

    def _type(self, selector: str, keys: str) -> None:
        self._until(f"{MIDDLE % selector} && (document.querySelector(`{selector}`).focus(), document.hasFocus())")
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": steps})

    def _act(self, source: dict[str, Any]) -> None:
        with suppress(FirefoxError):  # the page has gone by what was done
            self._firefox.ask("input.performActions", context=self._frame, actions=[source])

    def _until(self, script: str) -> Any:
        """Return what an expression gives as soon as that is true; a page that is being left answers nothing."""
        found: list[Any] = []

        def has_found() -> bool:
            with suppress(FirefoxError):
                asked = {"target": {"context": self._frame}, "awaitPromise": False}
                answer = self._firefox.ask("script.evaluate", expression=f"JSON.stringify({script})", **asked)
                found[:] = [json.loads(answer["result"].get("value", "null"))] if answer["type"] == "success" else []
            return any(found)

        wait_until(has_found, WAIT_S, script)
        return found[0]


class WebKitTab:
    """A tab that WebDriver drives.

    All that is done waits until it can be. The driver loses a frame whose page is replaced: it is entered again.
    """

    def __init__(self, driver: WebKitGTK) -> None:
        self._driver = driver
        # A page that is being left answers no script.
        passing = [JavascriptException, NoSuchElementException, StaleElementReferenceException, NoSuchFrameException]
        self._wait = WebDriverWait(driver, WAIT_S, 0.05, passing)
        self._is_in_frame = False

    def open(self, url: str) -> None:
        self._driver.get(url)
        self._driver.execute_script(_NOTE_ERRORS)

    def resize(self, width: int) -> None:
        self._driver.set_window_size(width, 900)

    def enter_frame(self) -> None:
        self._is_in_frame = True
        self._until(lambda: self._switch_to_frame() or True, "the frame")

    def click(self, selector: str) -> None:
        def click(element: WebElement) -> None:
            try:
                element.click()
            except ElementNotInteractableException:  # so the driver says of sliders, and never ends a click beside them
                self._point("mouse", selector)

        self._do(selector, click)

    def touch(self, selector: str, *moves: tuple[int, int]) -> None:
        self._point("touch", selector, *moves)

    def press(self, selector: str, key: str) -> None:
        def press(element: WebElement) -> None:
            self._driver.execute_script("arguments[0].focus()", element)  # the driver types into no picture's buttons
            ActionChains(self._driver).send_keys(getattr(Keys, key.upper())).perform()

        self._do(selector, press)

    def fill(self, selector: str, text: str) -> None:
        self._do(selector, lambda element: element.send_keys(text))

    def choose(self, selector: str, place: int) -> None:
        self._do(selector, lambda element: Select(element).select_by_index(place))

    def complaints(self) -> list[str]:
        return self.run("window.complaints || []")

    def wait_for_text(self, selector: str, text: str) -> None:
        self._until(lambda: self._find(selector).text == text, f"{selector}: {text}")

    def wait_for(self, selector: str, n: int = 1) -> None:
        self._until(lambda: len(self._driver.find_elements(By.CSS_SELECTOR, selector)) == n, f"{n} {selector}")

    def run(self, script: str) -> Any:
        [found] = self._until(lambda: [self._run(script)], script)
        return found

    def _point(self, kind: str, selector: str, *moves: tuple[int, int]) -> None:
        middle = self._until(lambda: self._run(MIDDLE % selector), selector)
        last = (moves or [(0, 0)])[-1]
        steps = [("pointerdown", 0, 0), *(("pointermove", *each) for each in moves), ("pointerup", *last)]
        self._run(_POINT % (json.dumps(kind), json.dumps(middle), json.dumps(steps)))

    def _do(self, selector: str, act: Callable[[WebElement], None]) -> None:
        """Act on an element once the page is whole: before its styles are there, a click misses."""

        def has_acted() -> bool:
            if self._run("document.readyState") != "complete":
                return False
            element = self._find(selector)
            self._driver.execute_script("arguments[0].scrollIntoView()", element)  # questions stick below
            with suppress(NoSuchFrameException):  # the page has gone by what was done
                act(element)
            return True

        self._until(has_acted, "the page is whole")

    def _until(self, check: Callable[[], Any], what: str) -> Any:
        """Return what `check` returns as soon as it is true."""

        def check_in_frame(_: WebKitGTK) -> Any:
            try:
                return check()
            except NoSuchFrameException:
                if self._is_in_frame:
                    self._switch_to_frame()
                return False

        return self._wait.until(check_in_frame, what)

    def _switch_to_frame(self) -> None:
        self._driver.switch_to.default_content()
        self._driver.switch_to.frame(self._find("iframe"))

    def _run(self, script: str) -> Any:
        return self._driver.execute_script(f"return ({script});")

    def _find(self, selector: str) -> WebElement:
        return self._driver.find_element(By.CSS_SELECTOR, selector)
