"""What a simulated worker sees of a page: its forms, their fields, and a completion code."""

import re
from dataclasses import dataclass, field
from html import unescape

from annotation.pages.contents import ANSWER


@dataclass
class Form:
    """A form that is posted: where to, with what. `answers`: names of what answers a criterion, whatever its kind."""

    action: str
    hidden: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, str] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        """What the form does, by the last part of its address: empty where it is sent to its own page."""
        return self.action.rstrip("/").rpartition("/")[2]


@dataclass
class Page:
    """A page as a worker finds it.

    A `topic` begins a chat, a `chat` goes on, an `item` is rated, `feedback` ends a HIT, a `code` says that it is
    done.
    """

    forms: list[Form] = field(default_factory=list)
    code: str = ""
    message: str = ""

    @property
    def item(self) -> Form | None:
        """The form of the item to be rated, if there is one."""
        return next((form for form in self.forms if form.answers), None)

    @property
    def feedback(self) -> Form | None:
        """The form that ends the HIT, if all its items are rated."""
        return next((form for form in self.forms if "feedback" in form.texts), None)

    @property
    def topic(self) -> Form | None:
        """The form that begins a chat, if one is to be begun."""
        return self._doing("topic")

    @property
    def chat(self) -> Form | None:
        """A form that shows the state of a chat, if one is going on: by the number of its next turn, if it has room."""
        return self._doing("say") or self._doing("reply") or self._doing("end")

    def _doing(self, verb: str) -> Form | None:
        return next((form for form in self.forms if form.verb == verb), None)

    @property
    def onward(self) -> Form | None:
        """The form that starts a HIT, if there is one: welcome and last pages have no other."""
        return self.forms[0] if self.forms else None


def read_page(html: str) -> Page:
    """Return what a page offers. Scripts are not run: a field's name is its `name` or, until then, `data-name`.

    A crowd reads many pages, all from this site's templates: patterns take a third of the time of a parser.
    """
    page, form = Page(message=_text(_HEADING, html), code=_text(_CODE, html)), None
    for tag in _TAG.finditer(html):
        name, attributes = tag.groups()
        values = {key: unescape("".join(value)) for key, *value in _ATTRIBUTE.findall(attributes)}
        if name in ("form", "/form"):
            form = Form(values.get("action", "")) if values.get("method", "").lower() == "post" else None
            if form is not None:
                page.forms.append(form)
        elif form is not None:
            _add_field(form, name, values)
    return page


# A ">" may be in the value of an attribute.
_ATTRIBUTES = r"""((?:[^"'>]++|"[^"]*"|'[^']*')*)"""
_TAG = re.compile(rf"<(/?form|input|select|textarea|button)\b{_ATTRIBUTES}>")
_ATTRIBUTE = re.compile(r"""([^\s"'=/]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?""")
_HEADING = re.compile(rf"<(h1)\b{_ATTRIBUTES}>(.*?)</\1>", re.DOTALL)
_CODE = re.compile(rf"<(\w+)(?=[^>]*\sid=\"code\"){_ATTRIBUTES}>(.*?)</\1>", re.DOTALL)


def _text(element: re.Pattern[str], html: str) -> str:
    """Return the text of the first of such elements, without tags; nothing if there is none."""
    found = element.search(html)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", found[3])).split()) if found else ""


def _add_field(form: Form, tag: str, values: dict[str, str]) -> None:
    name = values.get("name") or values.get("data-name", "")
    kind = values.get("type", "text") if tag == "input" else tag
    if not name:
        return
    if name.startswith(ANSWER):
        whole = name.partition(".")[0]  # of an answer in parts
        if whole not in form.answers:
            form.answers.append(whole)
    elif kind == "hidden":
        form.hidden[name] = values.get("value", "")
    elif kind == "checkbox":
        form.boxes[name] = values.get("value", "on")
    elif kind == "radio":
        form.choices.setdefault(name, []).append(values.get("value", "on"))
    elif kind in ("text", "textarea"):
        form.texts.append(name)
