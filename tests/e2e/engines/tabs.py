"""A worker's tab in Firefox or in WebKit: what tests do in it, in the words of neither of their drivers."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from playwright.sync_api import Locator, Page, expect
from selenium.common.exceptions import (
    JavascriptException,
    NoSuchElementException,
    NoSuchFrameException,
    StaleElementReferenceException,
)
from selenium.webdriver import Keys, WebKitGTK
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from tests.e2e.watching import watch

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


class Tab(Protocol):
    """What is done to an element waits until it is there. Elements are named by CSS selectors."""

    def open(self, url: str) -> None: ...

    def enter_frame(self) -> None:
        """From now on, act in the page's frame."""

    def resize(self, width: int) -> None:
        """Make the window so many pixels wide, or as narrow as it gets."""

    def click(self, selector: str) -> None: ...

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


class FirefoxTab:
    """A tab that Playwright drives."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frame = page.main_frame
        self._complaints: list[str] = []
        watch(page, self._complaints)

    def open(self, url: str) -> None:
        self._complaints.clear()
        self._page.goto(url)

    def resize(self, width: int) -> None:
        self._page.set_viewport_size({"width": width, "height": 900})

    def enter_frame(self) -> None:
        frame = self._page.locator("iframe").element_handle().content_frame()
        assert frame
        self._frame = frame

    def click(self, selector: str) -> None:
        self._ready(selector).click()

    def press(self, selector: str, key: str) -> None:
        self._ready(selector).press(key)

    def fill(self, selector: str, text: str) -> None:
        self._ready(selector).fill(text)

    def choose(self, selector: str, place: int) -> None:
        self._ready(selector).select_option(index=place)

    def complaints(self) -> list[str]:
        return self._complaints

    def wait_for_text(self, selector: str, text: str) -> None:
        expect(self._frame.locator(selector)).to_have_text(text, timeout=WAIT_S * 1000)

    def wait_for(self, selector: str, n: int = 1) -> None:
        expect(self._frame.locator(selector)).to_have_count(n, timeout=WAIT_S * 1000)

    def run(self, script: str) -> Any:
        return self._frame.locator("html").evaluate(f"() => ({script})")

    def _ready(self, selector: str) -> Locator:
        """Return an element once the page is whole: before its scripts are there, a key does half of what it should."""
        locator = self._frame.locator(selector)
        locator.wait_for()
        self._frame.wait_for_load_state()
        return locator


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
        self._do(selector, WebElement.click)

    def press(self, selector: str, key: str) -> None:
        self._do(selector, lambda element: element.send_keys(getattr(Keys, key.upper())))

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
