"""The one family of errors that a person may read."""


class DomainError(Exception):
    """Something a person asked for cannot be done; the message says what, where and how to mend it.

    `code` is stable and meant for tests and programs; `message` is meant for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
