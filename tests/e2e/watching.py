"""What the browser's console complains of fails a test."""

from playwright.sync_api import Page


def watch(page: Page, complaints: list[str]) -> Page:
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page
