"""A design file, read and checked: all that is wrong with it is said at once, with its place."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar
from uuid import uuid4

from django import forms
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.fields import NOT_PROVIDED

from campaigns.connectors import get_connector
from campaigns.contracts.chat import ChatRules
from campaigns.contracts.options import OptionsForm
from campaigns.contracts.protocol import Scope, Screen
from campaigns.design_file import FORMAT, VERSION, Design, fields_of
from campaigns.dialogues import check_dialogues
from campaigns.formats import has_file_format
from campaigns.forms.chatbots import ChatbotForm
from campaigns.forms.criteria import CriterionForm
from campaigns.forms.data import SystemForm
from campaigns.forms.design import DesignForm
from campaigns.forms.partial import PartialForm
from campaigns.forms.screen import ScreenForm
from campaigns.forms.settings import ChatForm, InstructionsForm, SettingsForm
from campaigns.importing.contents import Contents
from campaigns.importing.layout import (
    ATTRIBUTE,
    DEGRADED,
    DOCUMENT,
    FIELD,
    OUTPUT,
    SOURCE,
    SYSTEM,
    FileLayout,
    check_layout,
)
from campaigns.importing.tables import MAX_SYSTEMS, read_contents
from campaigns.methods import methods
from campaigns.models import Campaign, Chatbot, Criterion, System
from campaigns.platforms import platforms
from campaigns.protocols import get_protocol
from campaigns.responses import check_settings
from campaigns.services.criteria import MOST
from campaigns.services.screens import check_screen
from evalsite.lib.errors import DomainError
from evalsite.lib.strict_json import parse_json
from evalsite.lib.tables import Problem, TableError
from evalsite.lib.tables.errors import shorten
from evalsite.lib.typed_json import typed
from evalsite.web import SizedFileField

_SHOWN, _LONGEST_MESSAGE = 10, 600
_MOST_VALUES = 4_000_000
"""Of a file: as many take some 300 MB of memory."""
_MOST_LEVELS = 20
_LONGEST_FIELD = 100
# Columns of the table of outputs; attributes have their own names.
_SOURCE, _DOCUMENT, _SYSTEM, _OUTPUT, _DEGRADED, _FIELD = (
    f"design:{role}" for role in ("source", "document", "system", "output", "degraded", "field:")
)
_KEYS = {"format", "version", "written_by", "campaign", "criteria", "systems", "chatbots", "dialogues", "sources"}
_LIST, _OBJECT = "write a list, in brackets", "write an object, in braces"
_INSTALL = "If the other site has it by a plug-in, install that here, too."
# What pages check beside the models: lengths, ranges, forms of words.
_OF_PAGES: Mapping[type[models.Model], Mapping[str, forms.Field]] = {
    Campaign: {**SettingsForm.base_fields, **DesignForm.base_fields, **InstructionsForm.base_fields},
    Criterion: CriterionForm.base_fields,
    System: SystemForm.base_fields,
    Chatbot: ChatbotForm.base_fields,
}
Value = TypeVar("Value")


class DesignFileForm(forms.Form):
    """A design file; `file` becomes its `Design`. The id of the campaign comes with the form, as of a new one.

    `problems`: all that is wrong with the file.
    """

    problems: Sequence[Problem] = ()
    public_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, required=False)
    file = SizedFileField(
        label="Design file",
        help_text="JSON, as another campaign’s Settings → Copy or move gives it, here or on another site.",
        advice="Download it without the outputs, and upload these as a table.",
        widget=forms.FileInput(attrs={"accept": ".json"}),
    )

    def clean_file(self) -> Design:
        """Read the file; say all that is wrong with it."""
        reader = _Reader()
        design = reader.read(self.cleaned_data["file"].read())
        if reader.problems:
            self.problems = reader.problems
            said = [f"{each.column}: {each.message}" for each in self.problems[:_SHOWN]]
            if (n_more := len(self.problems) - _SHOWN) > 0:
                said.append(f"… and {n_more:,} more.")
            raise ValidationError(said, code="bad_design")
        assert design
        return design


@dataclass
class _SourceInFile:
    name: str
    fields: dict[str, str]
    outputs: dict[str, str]
    attribute_values: dict[str, str] = field(default_factory=dict)
    document: str = ""
    degraded: dict[str, str] = field(default_factory=dict)


class _Reader:
    """A design file on its way to a design; what is wrong is gathered in `problems`."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def _add(self, where: str, what: str) -> None:
        message = shorten(f"{what.rstrip('.')}.", _LONGEST_MESSAGE)
        self.problems.append(Problem(None, shorten(where), message, "bad_design"))

    def _is(self, where: str, call: Callable[..., Value], *given: Any) -> Value | None:
        """Return what a call gives; None, and a problem, if it refuses."""
        try:
            return call(*given)
        except DomainError as error:
            text = f"{error.message} {_INSTALL}" if error.code.startswith("unknown_") else error.message
            self._add(where, text)
        except ValidationError as error:
            self._add(where, " ".join(error.messages))
        except ValueError as error:
            self._add(where, str(error))
        return None

    def read(self, data: bytes) -> Design | None:
        """Return the design; None if the file is none at all, else only without `problems` what may be stored."""
        found = self._parsed(data)
        if found is None:
            return None
        for key in sorted(found.keys() - _KEYS):
            self._add(key, f"a design file has no such part. It has: {', '.join(sorted(_KEYS))}")
        campaign = self._campaign(found.get("campaign"))
        criteria = self._criteria(self._rows(found, "criteria"))
        systems, chatbots = self._systems(self._rows(found, "systems")), self._chatbots(self._rows(found, "chatbots"))
        if self.problems:  # what comes now relies on all of it
            return None
        self._check_chats(campaign, systems, chatbots)
        dialogues = self._dialogues(found.get("dialogues", {}), chatbots)
        sources = self._rows(found, "sources")
        contents = self._contents(sources, Screen.from_json(campaign["screen"])) if sources else None
        return Design(campaign, criteria, systems, chatbots, contents, dialogues)

    def _parsed(self, data: bytes) -> dict[str, Any] | None:
        """Return the parts of a design file of a version that this site reads."""
        n_values = data.count(b",") + data.count(b"[") + data.count(b"{")
        if n_values > _MOST_VALUES:
            self._add("The file", f"it holds more than {_MOST_VALUES:,} values. Download it without the outputs")
            return None
        found = self._is("The file", parse_json, data)
        if self.problems:
            return None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            text = "it is no design file. Outputs are uploaded under “Start from my file”; a design file is downloaded "
            self._add("The file", f"{text}in a campaign’s Settings → Copy or move")
            return None
        version = found.get("version")
        if type(version) is not int or version < 1:
            self._add("version", f"write a whole number, {VERSION} for a file like those of this site")
            return None
        if version > VERSION:
            by = str(found.get("written_by", "a newer evalsite"))[:50]
            text = f"the file is of version {version}, by {by}, and this site reads version {VERSION}"
            self._add("version", f"{text}. Update this site, or have the file written by an older one")
            return None
        for key, part in found.items():
            for fault in _faults_of([key, part]):
                self._add(key[:50].replace("\0", ""), fault)
        return None if self.problems else found

    def _rows(self, found: Mapping[str, Any], key: str) -> list[Any]:
        rows = found.get(key, [])
        if isinstance(rows, list):
            return rows
        self._add(key, _LIST)
        return []

    # --- Values of models

    def _values(self, model: type[models.Model], given: Any, where: str) -> dict[str, Any]:
        """Return the fields of a model, by the types and limits of the model and of its page; others have defaults."""
        if not isinstance(given, dict):
            self._add(where, _OBJECT)
            return {}
        fields, values = fields_of(model), {}
        for name in sorted(given.keys() - fields.keys()):
            self._add(f"{where}, {name}", "this site does not know it. Delete it, or update this site")
        for name, each in fields.items():
            if name in given:
                values[name] = self._is(f"{where}, {name}", _value, each, given[name], _OF_PAGES[model].get(name))
            elif each.default is NOT_PROVIDED and not (each.null or each.blank):
                self._add(f"{where}, {name}", "it is missing")
            else:
                values[name] = each.get_default()
        return values

    def _check_options(
        self, where: str, options: type[OptionsForm], check: Callable[..., object], given: Mapping[str, Any]
    ) -> None:
        """Check the options of a plug-in, of which secrets are in no file."""
        for name in sorted(given.keys() - options.plain().keys()):
            self._add(f"{where}, {name}", "there is no such option in a design file. Delete it")
        self._is(where, check, given)

    def _form(self, where: str, form: PartialForm) -> None:
        """Check values that a form shows."""
        for name, errors in form.errors.items():
            self._add(f"{where}, {name}", " ".join(str(error) for error in errors))

    # --- Parts

    def _campaign(self, given: Any) -> dict[str, Any]:
        values = self._values(Campaign, given, "campaign")
        known = {name: value for name, value in values.items() if value is not None}
        protocol = self._plug_in("protocol", get_protocol, known)
        if "screen" in known and (screen := self._is("campaign, screen", typed, known["screen"], Screen)):
            values["screen"] = self._checked_screen(screen).to_json()
        chat = known.get("chat")
        if chat and (rules := self._is("campaign, chat", typed, chat, ChatRules)):
            self._form("campaign, chat", ChatForm(rules, {}))
            if rules.min_inputs > rules.max_inputs:
                self._add("campaign, chat", "min_inputs is more than max_inputs")
            values["chat"] = rules.to_json()
        if protocol and bool(protocol.chat) != bool(chat):
            has = "rules" if protocol.chat else "no rules"
            self._add("campaign, chat", f"{protocol.title} has {has} of live chats")
        self._plug_in("method", methods.__getitem__, known)
        platform = self._plug_in("platform", platforms.__getitem__, known)
        if platform and "platform_settings" in known:
            where, given = "campaign, platform_settings", known["platform_settings"]
            self._check_options(where, platform.options, platform.check, given)
        return values

    def _plug_in(self, name: str, get: Callable[[str], Value], known: Mapping[str, Any]) -> Value | None:
        return self._is(f"campaign, {name}", get, known[name]) if name in known else None

    def _checked_screen(self, screen: Screen) -> Screen:
        if not all(0 < len(name) <= _LONGEST_FIELD for name in screen.field_names):
            self._add("campaign, screen", f"a field needs a name of at most {_LONGEST_FIELD} characters")
        self._is("campaign, screen", check_screen, screen)
        if self.problems:  # the form relies on formats that there are
            return screen
        self._form("campaign, screen", ScreenForm(screen, {}, is_open=True, can_rename=False))
        return screen

    def _criteria(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        if len(rows) > MOST:
            self._add("criteria", f"there are {len(rows):,}, and a campaign has at most {MOST}")
            return []
        criteria = [self._values(Criterion, row, f"criteria {n}") for n, row in enumerate(rows, 1)]
        self._check_names("criteria", criteria)
        before: dict[str, Any] = {}
        for n, each in enumerate(criteria, 1):
            where, name = f"criteria {n}", each.get("shown_on") or ""
            if isinstance(each.get("response"), str) and isinstance(each.get("settings"), dict):
                each["settings"] = self._is(f"{where}, settings", check_settings, each["response"], each["settings"])
            if name and name not in before:
                self._add(f"{where}, shown_on", f"there is no criterion “{name}” before it")
            elif name and before[name] not in (Scope.PAGE, each.get("scope")):
                self._add(f"{where}, shown_on", f"“{name}” is asked of something else. Give both one scope")
            each["shown_on"] = name
            before[each.get("name") or ""] = each.get("scope")
        return criteria

    def _systems(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        if len(rows) > MAX_SYSTEMS:
            self._add("systems", f"there are {len(rows):,}, and at most {MAX_SYSTEMS} are compared")
            return []
        systems = [self._values(System, row, f"systems {n}") for n, row in enumerate(rows, 1)]
        self._check_names("systems", systems)
        for name in ("is_human", "is_degraded"):
            if sum(each.get(name) is True for each in systems) > 1:
                self._add(f"systems, {name}", "it is true of several, and may be of one")
        return systems

    def _check_names(self, where: str, rows: Sequence[Mapping[str, Any]]) -> None:
        names = [str(row["name"]) for row in rows if row.get("name")]
        names = [name.casefold() for name in names] if where == "criteria" else names
        for name in sorted({name for name in names if names.count(name) > 1}):
            self._add(where, f"several are called “{name}”. Give each a name of its own")

    def _chatbots(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        chatbots = [self._values(Chatbot, row, f"chatbots {n}") for n, row in enumerate(rows, 1)]
        for n, each in enumerate(chatbots, 1):
            where = f"chatbots {n}"
            connector = self._is(f"{where}, connector", get_connector, str(each.get("connector")))
            if connector and isinstance(each.get("settings"), dict):
                self._check_options(f"{where}, settings", connector.options, connector.options.check, each["settings"])
        return chatbots

    def _check_chats(
        self, campaign: Mapping[str, Any], systems: Sequence[Mapping[str, Any]], chatbots: Sequence[Mapping[str, Any]]
    ) -> None:
        """Refuse chatbots where there are no chats, and systems of chats that are no chatbots."""
        wanted = sorted(str(each["name"]) for each in systems) if campaign["chat"] else []
        if sorted(str(each["system"]) for each in chatbots) != wanted:
            text = "each of the systems has one" if campaign["chat"] else "a campaign without live chats has none"
            self._add("chatbots", text)

    def _dialogues(self, given: Any, chatbots: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Return the text of each file that a chatbot speaks from, by its name."""
        dialogues = self._is("dialogues", typed, given, dict[str, str]) or {}
        for name in sorted(dialogues.keys() - {each["system"] for each in chatbots}):
            self._add("dialogues", f"there is no chatbot “{name}”")
        for name, text in dialogues.items():
            with NamedTemporaryFile(prefix="dialogues-", suffix=".jsonl") as file:
                file.write(text.encode())
                file.flush()
                self._is("dialogues", lambda name, path: check_dialogues(path, name=name), name, Path(file.name))
        return dialogues

    def _contents(self, given: Sequence[Any], screen: Screen) -> Contents | None:
        """Return sources and outputs, as the reader of tables has them: as a table of one output a row."""
        if has_file_format(screen.formats):
            text = "they name pictures, which are in no design file. Download it without the outputs"
            self._add("sources", f"{text}, and upload these as a table with its pictures")
            return None
        sources = self._is("sources", typed, given, list[_SourceInFile])
        if sources is None:
            return None
        names = [source.name for source in sources]
        if len(set(names)) < len(names):
            seen: set[str] = set()
            again = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            self._add("sources", f"several are called “{again}”. Give each a name of its own")
            return None
        # What is required may have been changed after the outputs had come.
        screen = replace(screen, fields=tuple(replace(each, is_required=False) for each in screen.fields))
        attributes = dict.fromkeys(name for source in sources for name in source.attribute_values)
        roles = {_SOURCE: SOURCE, _DOCUMENT: DOCUMENT, _SYSTEM: SYSTEM, _OUTPUT: OUTPUT, _DEGRADED: DEGRADED}
        roles |= {_FIELD + name: FIELD + name for name in screen.field_names} | dict.fromkeys(attributes, ATTRIBUTE)
        with NamedTemporaryFile("w", prefix="outputs-", suffix=".jsonl", encoding="utf-8") as table:
            for source in sources:
                cells = {_SOURCE: source.name, _DOCUMENT: source.document}
                cells |= {_FIELD + name: source.fields.get(name, "") for name in screen.field_names}
                cells |= {name: source.attribute_values.get(name, "") for name in attributes}
                for system, text in source.outputs.items():
                    own = {_SYSTEM: system, _OUTPUT: text, _DEGRADED: source.degraded.get(system, "")}
                    table.write(json.dumps(cells | own, ensure_ascii=False) + "\n")
            table.flush()
            layout = FileLayout("jsonl", tuple(roles), roles)
            try:
                check_layout(layout, screen, is_open=False)
                return read_contents(
                    table.name, layout, screen, name="sources.jsonl", longest_text=django_settings.LONGEST_TEXT
                )
            except TableError as error:
                places = [f"source “{source.name}”, {system}" for source in sources for system in source.outputs]
                for each in error.problems:
                    self._add("sources" if each.row is None else places[each.row - 1], each.message)
            except DomainError as error:
                self._add("sources", error.message)
        return None


def _faults_of(value: Any) -> Iterator[str]:
    """Yield what keeps values from being stored: a text with NUL, which JSON can spell, and too many levels."""
    left = [(value, 0)]
    while left:
        each, depth = left.pop()
        if depth > _MOST_LEVELS:
            yield f"it has more than {_MOST_LEVELS} levels. Write fewer brackets into each other"
            return
        if isinstance(each, str) and "\0" in each:
            yield "a text has a character that cannot be stored (NUL). Delete it"
            return
        if isinstance(each, dict):
            left += ((inner, depth + 1) for pair in each.items() for inner in pair)
        elif isinstance(each, list):
            left += ((inner, depth + 1) for inner in each)


def _value(field: "models.Field[Any, Any]", given: Any, shape: forms.Field | None) -> Any:
    """Return a value of a model's field as it is stored; raise ValidationError or ValueError for what it cannot be."""
    if isinstance(field, models.ForeignKey):  # named
        if not isinstance(given, str):
            raise ValueError("write a name")
        return given
    if given is None and field.null:
        return None
    kinds, word = _type_of(field)
    if not isinstance(given, kinds) or (isinstance(given, bool) and bool not in kinds):
        raise ValueError(f"write {word}")
    if isinstance(given, list) and not all(isinstance(each, str) for each in given):
        raise ValueError("write a list of texts")
    if isinstance(field, models.DecimalField):
        given = str(given)
    value = field.clean(given, None)
    if shape and not isinstance(shape, forms.JSONField | forms.ChoiceField):  # models and registries know the choices
        shape.clean("\n".join(given) if isinstance(given, list) else given)
    return value


def _type_of(field: "models.Field[Any, Any]") -> tuple[tuple[type, ...], str]:
    """Return the types of JSON that a field may have, and what to write."""
    match field:
        case models.BooleanField():
            return (bool,), "true or false"
        case models.JSONField():
            kind = type(field.get_default())
            return (kind,), "a list of texts" if kind is list else "an object, in braces"
        case models.DecimalField():
            return (str, int, float, Decimal), "a number"
        case models.FloatField():
            return (int, float), "a number"
        case models.IntegerField():
            return (int,), "a whole number"
        case _:
            return (str,), "a text"
