"""Log lines without tokens: those of workers, shared results and mailed links, and the ids that platforms add."""

import logging
import re
from typing import Any

_MASK = "***"
_RULES = [
    # Worker pages: the token, and the query, which has personal links and platforms' ids of workers.
    (re.compile(r"(/rate/(?!c/))[^/\s?#\"'>]+"), rf"\1{_MASK}"),
    (re.compile(r"(/rate/[^\s?\"']*\?)[^\s\"'>]+"), rf"\1{_MASK}"),
    # Links to shared results.
    (re.compile(r"(/shared/)[^/\s?#\"'>]+"), rf"\1{_MASK}"),
    # Links to choose a new password.
    (re.compile(r"(/accounts/reset/)(?!sent/|done/)[^/\s\"']+/[^/\s\"']+"), rf"\1{_MASK}/{_MASK}"),
    # The answer of a provider that has signed somebody in.
    (re.compile(r"(/sign-in/provider/answer/\?)[^\s\"'>]+"), rf"\1{_MASK}"),
    # Links to answer an invitation to a campaign.
    (re.compile(r"(/campaigns/join/)[^/\s?#\"'>]+"), rf"\1{_MASK}"),
    # A worker's token anywhere else (annotation/access/tokens.py): an id, perhaps a mark, and the signature.
    (re.compile(r"\b\d+(?:-[0-9a-f]{10})?\.[\w-]{43}(?![\w-])"), _MASK),
]


def mask_tokens(text: str) -> str:
    """Return a text in which no token can be read."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


class MaskingFormatter(logging.Formatter):
    """Format a record as usual, its message and traceback, and mask the tokens in it."""

    def __init__(self, *args: Any, inner: logging.Formatter | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line, formatted by `inner` if there is one."""
        return mask_tokens(self._inner.format(record) if self._inner else super().format(record))
