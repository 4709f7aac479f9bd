"""XML: the external question of a HIT, and the answers of a worker."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit
from xml.etree import ElementTree

from simulators.mturk.refusals import bad_question

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_QUESTION = f"{{{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd}}"
_ANSWERS = f"{_SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_BYTES = 65_535
_OWN_HOSTS = ("127.0.0.1", "::1")


def external_address(question: str) -> str:
    """Return the address that an ExternalQuestion frames; raise RefusalError if it is not one.

    As at Amazon it is https; addresses of this machine and of its own network (names without a dot) may be http.
    """
    if len(question.encode()) > _MAX_BYTES:
        raise bad_question(f"longer than {_MAX_BYTES} bytes")
    if "<!" in question.replace("<![CDATA[", ""):
        raise bad_question("declarations are not allowed")  # nor comments, which a question does not need
    try:
        root = ElementTree.fromstring(question)
    except ElementTree.ParseError as error:
        raise bad_question(str(error)) from None
    if root.tag != f"{_QUESTION}ExternalQuestion":
        raise bad_question("only the ExternalQuestion of schema 2006-07-14 is simulated")
    if [child.tag for child in root] != [f"{_QUESTION}ExternalURL", f"{_QUESTION}FrameHeight"]:
        raise bad_question("ExternalURL and FrameHeight are expected, in this order")
    address, height = ((child.text or "").strip() for child in root)
    if not height.isdecimal():
        raise bad_question("FrameHeight is not a number")
    parts = urlsplit(address)
    host = parts.hostname or "."
    is_near = host in _OWN_HOSTS or "." not in host
    if parts.scheme != "https" and not (parts.scheme == "http" and is_near):
        raise bad_question("ExternalURL must begin with https")
    return address


def answers_document(fields: Mapping[str, str]) -> str:
    """Return the QuestionFormAnswers of the fields of a submitted form."""
    root = ElementTree.Element("QuestionFormAnswers", xmlns=_ANSWERS)
    for name, value in fields.items():
        answer = ElementTree.SubElement(root, "Answer")
        ElementTree.SubElement(answer, "QuestionIdentifier").text = _NOT_IN_XML.sub("", name)
        ElementTree.SubElement(answer, "FreeText").text = _NOT_IN_XML.sub("", value)
    return f'<?xml version="1.0" encoding="ASCII"?>{ElementTree.tostring(root, encoding="us-ascii").decode()}'
