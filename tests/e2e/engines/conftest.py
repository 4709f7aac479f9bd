"""Firefox and WebKit, each started once, a tab in each, and small campaigns."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright
from selenium.webdriver import WebKitGTK

from tests import services
from tests.e2e.engines.tabs import FirefoxTab, Tab, WebKitTab


@pytest.fixture(scope="session")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    program = services.find_program("firefox-esr", "firefox") or services.missing("Firefox")
    browser = playwright.firefox.launch(
        channel="moz-firefox", executable_path=program, firefox_user_prefs=services.FIREFOX_PREFERENCES
    )
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def webkit() -> Iterator[WebKitGTK]:
    with services.running_webkit() as driver:
        yield driver


@pytest.fixture
def firefox_tab(firefox: Browser) -> Iterator[Tab]:
    context = firefox.new_context()
    yield FirefoxTab(context.new_page())
    context.close()


@pytest.fixture
def webkit_tab(webkit: WebKitGTK) -> Iterator[Tab]:
    webkit.switch_to.new_window("tab")
    yield WebKitTab(webkit)
    webkit.close()
    webkit.switch_to.window(webkit.window_handles[0])


@pytest.fixture(params=["firefox", "webkit"])
def tab(request: pytest.FixtureRequest) -> Tab:
    return request.getfixturevalue(f"{request.param}_tab")
