"""Firefox and WebKit, each started once, a tab in each, and small campaigns."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from selenium.webdriver import WebKitGTK

from tests import services
from tests.e2e.engines.tabs import Firefox, FirefoxTab, Tab, WebKitTab


@pytest.fixture(scope="session")
def firefox() -> Iterator[Firefox]:
    with services.running_firefox() as address, closing(Firefox(address)) as firefox:
        yield firefox


@pytest.fixture(scope="session")
def webkit() -> Iterator[WebKitGTK]:
    with services.running_webkit() as driver:
        yield driver


@pytest.fixture
def firefox_tab(firefox: Firefox) -> Iterator[Tab]:
    """The one tab of Firefox, in which opening another takes longer than most tests."""
    tab = FirefoxTab(firefox)
    tab.resize(1280)
    yield tab
    tab.open("about:blank")
    firefox.ask("storage.deleteCookies")


@pytest.fixture
def webkit_tab(webkit: WebKitGTK) -> Iterator[Tab]:
    webkit.switch_to.new_window("tab")
    yield WebKitTab(webkit)
    webkit.close()
    webkit.switch_to.window(webkit.window_handles[0])


@pytest.fixture(params=["firefox", "webkit"])
def tab(request: pytest.FixtureRequest) -> Tab:
    return request.getfixturevalue(f"{request.param}_tab")
