"""The XML of Mechanical Turk: the question that a HIT shows, and the answer that came with it."""

import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

CODE = "code"
"""The field of `externalSubmit` with the completion code."""
_SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
_FILLS_WINDOW = 0
_MOST_CHARS, _MOST_OF_CODE = 100_000, 200
# Entities are declared in a document type: without one there is nothing to expand.
_DECLARATION = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)


def external_question(url: str) -> str:
    """Return the question that shows a page in a frame as large as the worker's window."""
    return (
        f'<ExternalQuestion xmlns="{_SCHEMA}">'
        f"<ExternalURL>{escape(url)}</ExternalURL><FrameHeight>{_FILLS_WINDOW}</FrameHeight>"
        "</ExternalQuestion>"
    )


def read_code(answer: str) -> str:
    """Return the completion code of an answer; "" if it has none or is no answer, whatever a worker has sent."""
    if len(answer) > _MOST_CHARS or _DECLARATION.search(answer):
        return ""
    try:
        root = ElementTree.fromstring(answer)
    except (ElementTree.ParseError, ValueError):
        return ""
    for each in root.iterfind("{*}Answer"):
        if each.findtext("{*}QuestionIdentifier") == CODE:
            return (each.findtext("{*}FreeText") or "").strip()[:_MOST_OF_CODE]
    return ""
