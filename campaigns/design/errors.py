"""The one error of HIT building."""


class DesignError(ValueError):
    """A design that cannot be built, or a text that cannot be degraded; the message says why, with the numbers.

    `code` is stable and meant for tests and programs; `message` is meant for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
