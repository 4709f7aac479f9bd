"""What a campaign gives away of itself: all that somebody set up, for copies on this site and on others.

Every field of the models below is in a copy, or has the reason here why it is not (`LEFT_OUT`). A design file is JSON:

    {"format": "evalsite design", "version": 1, "written_by": "evalsite 1.0", "campaign": {…},
     "criteria": [{…}], "systems": [{…}], "chatbots": [{…}], "sources": [{…, "outputs": {"system": "text"}}]}

Systems and sources are left out where the outputs are. `VERSION` grows when a file cannot be read as before; a field
that is new has its default where a file lacks it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from campaigns.contracts.protocol import Screen
from campaigns.data_queries import list_sources
from campaigns.formats import has_file_format
from campaigns.importing.contents import Contents
from campaigns.models import (
    Campaign,
    Chatbot,
    Criterion,
    Deletion,
    Delivery,
    Hit,
    HitItem,
    MemberInvitation,
    Membership,
    Output,
    Source,
    StoredFile,
    System,
    Upload,
    Webhook,
)
from evalsite.lib.version import __version__

FORMAT, VERSION = "evalsite design", 1
_CHUNK = 2000

_KEY = "The database gives it."
_LIFE = "A copy is a draft and has a life of its own."
_JOB = "It is about a job of this site."
_SECRET = "It is a secret, or about somebody's account."
_ROWS = "It goes with HITs that came with a file, which the same file brings again."
_COSTS = "It is about what was said and paid here."

LEFT_OUT: Mapping[type[models.Model], Mapping[str, str]] = {
    Campaign: {
        "id": _KEY,
        "public_id": "A copy has an address of its own.",
        "status": _LIFE,
        "replicates": _LIFE,
        "created_at": _LIFE,
        "launched_at": _LIFE,
        "closed_at": _LIFE,
        "archived_at": _LIFE,
        "erased_at": _LIFE,
        "seed": "A copy draws HITs of its own.",
        "n_tutorial": _ROWS,
        "has_given_hits": _ROWS,
        "platform_secrets": _SECRET,
        "account_data": _SECRET,
        "build_job": _JOB,
        "deletion_job": _JOB,
    },
    Criterion: {"id": _KEY, "campaign": _KEY, "order": "Criteria are in their order."},
    System: {"id": _KEY, "campaign": _KEY},
    Chatbot: {
        "id": _KEY,
        "secrets": _SECRET,
        "dialogues": "It is the place of a file on this site.",
        "spent": _COSTS,
        "tested": _COSTS,
    },
    Source: {"id": _KEY, "campaign": _KEY, "place": "Sources of a document are in their order."},
    Output: {"id": _KEY},
}
"""Why fields are in no design file, {model: {field: reason}}; all others are in it."""
LEFT_OUT_MODELS: Mapping[type[models.Model], str] = {
    Membership: "Members are people of this site.",
    MemberInvitation: "Members are people of this site.",
    StoredFile: "Files are not in JSON: data that name some come with them in a table and a zip.",
    Upload: "The sources and outputs are what came of it.",
    Deletion: "It is a record of this site.",
    Hit: "HITs are built of the design; those that came with a file come with it again.",
    HitItem: "HITs are built of the design; those that came with a file come with it again.",
    Webhook: "Somebody else's server is not called without being asked for.",
    Delivery: "It was sent.",
}


def fields_of(model: type[models.Model]) -> dict[str, "models.Field[Any, Any]"]:
    """Return the fields of a model that are in a design file, by name."""
    return {each.name: each for each in model._meta.fields if each.name not in LEFT_OUT[model]}


@dataclass(frozen=True)
class Design:
    """A campaign as it is set up: values by the names of the models' fields.

    A criterion names the criterion that it is `shown_on`, a chatbot its `system`. A file may bring `contents`, and the
    `dialogues` that chatbots speak from, as text by the chatbot's name.
    """

    campaign: Mapping[str, Any]
    criteria: list[dict[str, Any]] = field(default_factory=list)
    systems: list[dict[str, Any]] = field(default_factory=list)
    chatbots: list[dict[str, Any]] = field(default_factory=list)
    contents: Contents | None = None
    dialogues: Mapping[str, str] = field(default_factory=dict)


def read_design(campaign: Campaign) -> Design:
    """Return the design of a campaign. Three queries."""
    criteria = campaign.criteria.select_related("shown_on")
    chatbots = Chatbot.objects.filter(system__campaign=campaign).select_related("system")
    return Design(
        campaign=_values(campaign),
        criteria=[_values(each) | {"shown_on": each.shown_on.name if each.shown_on else ""} for each in criteria],
        systems=[_values(each) for each in campaign.systems.all()],
        chatbots=[_values(each) | {"system": each.system.name} for each in chatbots],
    )


def _values(row: models.Model) -> dict[str, Any]:
    return {name: getattr(row, name) for name in fields_of(type(row))}


def design_pieces(campaign: Campaign, *, has_outputs: bool) -> Iterator[str]:
    """Yield the design file of a campaign, with its sources and outputs, or the dialogues of its chatbots, or without.

    Sources and outputs that name files are left out, as the files are: none of them could be read without.
    The outputs are read in pieces: there may be many.
    """
    design = read_design(campaign)
    has_outputs = has_outputs and not has_file_format(Screen.from_json(campaign.screen).formats)
    parts = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"evalsite {__version__}",
        "campaign": design.campaign,
        "criteria": design.criteria,
    }
    if campaign.is_live:
        dialogues = _dialogues_of(campaign) if has_outputs else {}
        parts |= {"systems": design.systems, "chatbots": design.chatbots, "dialogues": dialogues}
        has_outputs = False
    elif has_outputs:
        parts |= {"systems": design.systems}
    text = json.dumps(parts, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)
    if not has_outputs:
        yield f"{text}\n"
        return
    yield f'{text.removesuffix("}").rstrip()},\n "sources": ['
    for n, source in enumerate(list_sources(campaign).iterator(_CHUNK)):
        outputs = list(source.outputs.all())
        row = _values(source) | {"outputs": {each.system.name: each.text for each in outputs}}
        if degraded := {each.system.name: each.degraded for each in outputs if each.degraded}:
            row["degraded"] = degraded
        yield f"{',' if n else ''}\n  {json.dumps(row, ensure_ascii=False)}"
    yield "\n ]\n}\n"


def _dialogues_of(campaign: Campaign) -> dict[str, str]:
    """Return the files that chatbots speak from, by the chatbot's name; those of the examples are on every site."""
    found = {}
    chatbots = Chatbot.objects.filter(system__campaign=campaign).exclude(dialogues="").select_related("system")
    for chatbot in chatbots:
        with chatbot.dialogues.open("rb") as file:
            found[chatbot.system.name] = file.read().decode()
    return found
