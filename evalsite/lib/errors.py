"""The one family of errors that a person may read, and the HTTP statuses of their answers."""

UNPROCESSABLE = 422
"""What was sent is wrong or was refused; sending it again does not help."""
CONFLICT = 409
"""It would have been right in another state: somebody or something was faster, or it is too early or too late."""


class DomainError(Exception):
    """Something a person asked for cannot be done; the message says what, where and how to fix it.

    `code` is stable and meant for tests and programs; `message` is meant for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
