"""JSON as it is sent."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from evalsite.lib.strict_json import parse_json


class StrictJsonParser(JSONParser):
    """Refuses what cannot be stored: half of a surrogate pair, numbers that are too large, too many levels."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the values; raise ParseError."""
        try:
            return parse_json(stream.read())
        except ValueError as error:
            raise ParseError(str(error)) from None
