"""What a simulated worker sees of a page: its forms, their fields, and a completion code."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

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
    """Return what a page offers. Scripts are not run: a field's name is its `name` or, until then, `data-name`."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.page.message = " ".join(reader.page.message.split())
    reader.page.code = reader.page.code.strip()
    return reader.page


class _Reader(HTMLParser):
    """Collects forms, the completion code and the first heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._form: Form | None = None
        self._code_tag = ""
        self._heading_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if values.get("id") == "code":
            self._code_tag = tag
        if tag == "h1" and not self.page.message:
            self._heading_depth = 1
        if tag == "form":
            self._form = Form(values.get("action", "")) if values.get("method", "").lower() == "post" else None
            if self._form is not None:
                self.page.forms.append(self._form)
        elif self._form is not None and tag in ("input", "select", "textarea", "button"):
            _add_field(self._form, tag, values)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        if tag == "h1":
            self._heading_depth = 0
        if tag == self._code_tag:
            self._code_tag = ""

    def handle_data(self, data: str) -> None:
        if self._code_tag:
            self.page.code += data
        if self._heading_depth:
            self.page.message += data


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
