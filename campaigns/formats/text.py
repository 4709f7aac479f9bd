"""Plain text, drawn as an image or shown as text."""

from campaigns.contracts.format import ContentFormat


class PlainText(ContentFormat):
    """A text without markup."""

    slug = "text"
    title = "Text"
    summary = "Plain text, as it is written."
    is_drawable = True
