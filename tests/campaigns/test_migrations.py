"""Migrations: they make the tables that the models say, and the data of existing installations go through them."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import dj_database_url
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Assignment, Event
from campaigns.connectors.http_json.plugin import TEMPLATE
from campaigns.connectors.openai_chat.plugin import SYSTEM_PROMPT
from campaigns.models import Campaign
from crowd.models import Posting, ReceivedNotification, Submission
from evalsite.jobs.models import Job
from tests import databases
from tests.jobs.processes import Site
from tests.services import free_port, new_database, wait_until

UsingDatabase = Callable[[str], Any]


def migrate(name: str) -> Any:
    """Migrate campaigns to a migration, back or on; return the models of that state."""
    return databases.migrate_to(("campaigns", name))


@pytest.fixture(scope="module")
def sqlite(django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> UsingDatabase:
    """Use a SQLite database of this name."""
    folder = tmp_path_factory.mktemp("migrations")

    @contextmanager
    def using(name: str) -> Iterator[None]:
        database = {**settings.DATABASES["default"], "NAME": str(folder / name)}
        with django_db_blocker.unblock(), databases.using_database(database):
            yield

    return using


# --- The tables


# Django's own tables are its own matter. An index keeps its name when its table is renamed, so names do not count.
OURS = tuple(f"{config.label}_" for config in apps.get_app_configs() if not config.name.startswith("django."))


def test_migrations_make_the_tables_of_the_models_on_sqlite(
    sqlite: UsingDatabase, session_folder: Path, stored: object
) -> None:
    def tables() -> list[list[str]]:
        """Return the words that make each table and each index, in no order: a migration adds columns at the end."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return sorted(
                sorted(re.split(r"[\s,()]+", sql.replace(f'"{name}"', "") if type_ == "index" else sql))
                for type_, name, table, sql in cursor
                if table.startswith(OURS)
            )

    with sqlite("models"):
        databases.sqlite_copy(session_folder, connection.settings_dict["NAME"])
        expected = tables()
    with sqlite("old"):
        assert tables() == expected


def test_migrations_make_the_tables_of_the_models_on_postgresql(
    postgres_url: str, postgres_database: str, django_db_blocker: Any
) -> None:
    def tables() -> dict[str, list[list[str]]]:
        """Return the columns and constraints of each table, in no order."""
        look = connection.introspection
        with connection.cursor() as cursor:
            return {
                name: [
                    sorted(map(repr, each))
                    for each in (
                        look.get_table_description(cursor, name),
                        look.get_constraints(cursor, name).values(),
                    )
                ]
                for name in look.table_names(cursor)
                if name.startswith(OURS)
            }

    with django_db_blocker.unblock():
        with databases.using_database(dj_database_url.parse(postgres_database)):
            expected = tables()
        with databases.using_database(dj_database_url.parse(new_database(postgres_url, "migrated"))):
            call_command("migrate", verbosity=0)
            assert tables() == expected


def test_a_migrated_installation_is_served_and_runs_its_jobs(
    sqlite: UsingDatabase, stored: object, installation: Path, tmp_path: Path
) -> None:
    with sqlite("old"), Site(tmp_path) as site:
        site.install(installation)
        connection.close()
        shutil.copy(connection.settings_dict["NAME"], site.folder / "db.sqlite3")
        with site.database():
            Job.objects.create(kind="example.count", args={"notes": str(site.notes)})
        site.start("-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{free_port()}", "--threads", "2")
        own = "SELECT status, attempts FROM jobs_job WHERE kind = 'example.count'"  # the scheduler adds others
        wait_until(lambda: site.rows(own) == [("succeeded", 1)], 60, "the job of a migrated installation has run")
        assert site.noted() == ["start", "end"]
        assert "Traceback" not in site.log()


# --- The data of campaigns

RULES = {"opening": "free", "min_inputs": 10, "max_inputs": 100, "longest_input": 5000}
LINE = "You talk about this: {topic}"
PROMPT_BEFORE = SYSTEM_PROMPT.replace("This is you", f"{LINE}\nThis is you")
TEMPLATE_BEFORE = TEMPLATE.replace('  "persona"', '  "topic": "{{topic}}",\n  "persona"')
OWN = {"system_prompt": "Talk about {topic}, kindly."}

# Chatbots of launched campaigns, and whether they were sent the topic.
WAS_SENT: list[tuple[str, dict[str, Any], bool]] = [
    ("openai-chat", {"system_prompt": PROMPT_BEFORE}, True),
    ("openai-chat", {"system_prompt": "On {topic}."}, True),
    ("openai-chat", {}, True),
    ("http-json", {"template": TEMPLATE_BEFORE}, True),
    ("http-json", {"template": '{"a": "{{text}}", "b": "On {{ topic }}"}'}, True),
    ("python", {"class_path": "a.B"}, True),
    ("retrieval", {}, True),
    ("of-another-site", {}, True),
    ("openai-chat", {"system_prompt": "Be kind."}, False),
    ("openai-chat", {"system_prompt": ""}, False),
    ("http-json", {"template": '{"a": "{{text}}", "b": "{topic}"}'}, False),
    ("degraded", {}, False),
]
OF_DRAFT = [
    ("openai-chat", {"system_prompt": PROMPT_BEFORE, "model": "tiny"}),
    ("http-json", {"template": TEMPLATE_BEFORE.replace("\n", "\r\n")}),
    ("openai-chat", {"system_prompt": f"Be kind.\n{LINE}\nBe brief."}),
    ("openai-chat", OWN),
]


class Stored(NamedTuple):
    """What a campaign stores."""

    name: str
    instructions: str
    rules: dict[str, Any]
    chatbots: list[Any]
    study: tuple[str, str] | None
    archived_at: Any
    offers_text: bool | None
    stopping: tuple[str, list[str]] | None


def add(state: Any, name: str, *chatbots: tuple[str, dict[str, Any]], is_launched: bool = False, chat: Any) -> None:
    """Store a campaign of the state before, with these chatbots and the degraded one."""
    launched_at = timezone.now() if is_launched else None
    campaign = state.get_model("campaigns", "Campaign").objects.create(
        name=name, instructions="Rate.", chat=chat, launched_at=launched_at
    )
    for number, (connector, options) in enumerate((*chatbots, ("degraded", {}))):
        system = state.get_model("campaigns", "System").objects.create(campaign=campaign, name=f"{number}")
        state.get_model("campaigns", "Chatbot").objects.create(
            system=system, connector=connector, settings=options, tested={"ok": True}
        )


def add_place(state: Any) -> None:
    """Store a place of the draft's that somebody else has taken over, with what happened to it."""
    now, model = timezone.now(), state.get_model
    campaign = model("campaigns", "Campaign").objects.get(name="draft")
    assignment = model("annotation", "Assignment").objects.create(
        campaign=campaign,
        hit=model("campaigns", "Hit").objects.create(campaign=campaign, number=1),
        worker=model("annotation", "Worker").objects.create(platform="link", key="ann"),
        n_items=1,
        leased_until=now,
        state="expired",
        ended_at=now,
    )
    for kind, data in (("expired", {"displaced": True}), ("expired", {}), ("rated", {"shown_ms": 9000})):
        model("annotation", "Event").objects.create(assignment=assignment, kind=kind, data=data)


def add_posting(state: Any) -> None:
    """Store a posting of the draft's, a submission and a notification, before columns and tables got other names."""
    model, at = state.get_model, timezone.now()
    campaign = model("campaigns", "Campaign").objects.get(name="draft")
    campaign.platform_memory = {"hit_type": "H1"}
    campaign.save()
    worker = model("annotation", "Worker").objects.create(platform="mturk", key="A1WORKER")
    # Both are over: an installation that is served begins no job for them.
    wave = model("crowd", "Wave").objects.create(
        campaign=campaign, number=1, state="published", n_hits=1, n_places=2, max_cost=2, site_url="https://x.example"
    )
    posting = model("crowd", "Posting").objects.create(
        campaign=campaign, wave=wave, n_places=2, state="ended", look_at=at, seen_at=at
    )
    fields = {"campaign": campaign, "posting": posting, "worker": worker, "seen_at": at, "dismissed_at": at}
    model("crowd", "Submission").objects.create(
        platform_id="S1", state="submitted", trouble="wrong-code", told={"Answer": "x"}, **fields
    )
    model("crowd", "SeenNotification").objects.create(campaign_id=campaign.pk, fingerprint="f1", at=at)


def read(state: Any) -> dict[str, Stored]:
    """Return what campaigns store, by their names."""
    chatbots = state.get_model("campaigns", "Chatbot").objects.order_by("system__name")
    return {
        each.name: Stored(
            each.name,
            each.instructions,
            each.chat,
            list(chatbots.filter(system__campaign=each)),
            (each.study_name, each.contact) if hasattr(each, "contact") else None,
            getattr(each, "archived_at", None),
            getattr(each, "offers_text", None),
            (each.stopping_rule, each.stopping_systems) if hasattr(each, "stopping_rule") else None,
        )
        for each in state.get_model("campaigns", "Campaign").objects.all()
    }


@pytest.fixture(scope="module")
def stored(sqlite: UsingDatabase) -> dict[str, dict[str, Stored]]:
    """What an installation stores that begins before these migrations, by the one after which it is read."""
    with sqlite("old"):
        before = migrate("0003_platforms")
        for number, (connector, options, _) in enumerate(WAS_SENT):
            add(before, f"launched {number}", (connector, options), is_launched=True, chat=RULES)
        add(before, "draft", *OF_DRAFT, chat=RULES)
        add(before, "of outputs", is_launched=True, chat={})
        found = {name: read(migrate(name)) for name in ("0004_chat_topic", "0003_platforms")}
        add_place(databases.migrate_to(("annotation", "0006_rejected"), ("campaigns", "0004_chat_topic")))
        add_posting(databases.migrate_to(("crowd", "0003_notifications"), ("campaigns", "0006_study")))
        campaigns = migrate("0015_pages").get_model("campaigns", "Campaign").objects
        for slug in ("da-likert", "qg"):
            campaigns.create(name=slug, protocol=slug, screen={}, seed=1)
        call_command("migrate", verbosity=0)
        return found | {"latest": read(apps)}


class TestTopicOfChats:
    @pytest.fixture
    def after(self, stored: dict[str, dict[str, Stored]]) -> dict[str, Stored]:
        return stored["0004_chat_topic"]

    def test_a_launched_campaign_keeps_what_its_chatbots_were_sent(self, after: dict[str, Stored]) -> None:
        for number, (connector, options, expected) in enumerate(WAS_SENT):
            campaign = after[f"launched {number}"]
            assert campaign.rules == RULES | {"sends_topic": expected}, (connector, options)
            chatbot, _ = campaign.chatbots
            assert chatbot.settings.items() >= options.items()
            assert chatbot.tested == {"ok": True}
        without_prompt, _ = after["launched 2"].chatbots
        assert without_prompt.settings == {"system_prompt": PROMPT_BEFORE}, "it would be asked otherwise than before"

    def test_a_draft_sends_no_topic_and_its_default_texts_lose_it(self, after: dict[str, Stored]) -> None:
        draft = after["draft"]
        assert draft.rules == RULES | {"sends_topic": False}
        assert after["of outputs"].rules == {}
        assert [each.settings for each in draft.chatbots] == [
            {"system_prompt": SYSTEM_PROMPT, "model": "tiny"},
            {"template": TEMPLATE},
            {"system_prompt": "Be kind.\nBe brief."},
            OWN,
            {},
        ]
        assert [each.tested.get("is_outdated", False) for each in draft.chatbots] == [True, True, True, False, False]

    def test_the_code_of_before_can_read_what_is_migrated_back(self, stored: dict[str, dict[str, Stored]]) -> None:
        assert stored["0003_platforms"]["launched 6"].rules == RULES


def test_a_campaign_from_before_has_no_study_name_and_no_contact(stored: dict[str, dict[str, Stored]]) -> None:
    new = stored["latest"]["draft"]
    assert (new.name, new.instructions, new.study) == ("draft", "Rate.", ("", ""))


def test_no_campaign_from_before_is_archived(stored: dict[str, dict[str, Stored]]) -> None:
    assert {each.archived_at for each in stored["latest"].values()} == {None}


def test_no_campaign_from_before_offers_text(stored: dict[str, dict[str, Stored]]) -> None:
    assert {each.offers_text for each in stored["latest"].values()} == {False}


def test_no_campaign_from_before_closes_by_itself(stored: dict[str, dict[str, Stored]]) -> None:
    assert [each.stopping for each in stored["latest"].values()] == [("off", [])] * len(stored["latest"])


def test_a_place_that_was_taken_over_before_keeps_why(sqlite: UsingDatabase, stored: object) -> None:
    with sqlite("old"):
        assignment = Assignment.objects.select_related("hit", "campaign", "worker").get()
        kept = Event.objects.order_by("pk").values_list("data", flat=True)
        assert list(kept) == [{"cause": "displaced"}, {}, {"shown_ms": 9000}]
        assert assignment.worker.erased_at is None
        assert (assignment.draw_probability, assignment.even_probability) == (None, None)
        assert (assignment.hit.weight, assignment.campaign.is_adaptive) == (1, False)
        assert (assignment.campaign.retention_days, assignment.campaign.erased_at) == (None, None)


def test_likert_campaigns_of_before_are_analysed_as_they_were(sqlite: UsingDatabase, stored: object) -> None:
    with sqlite("old"):
        now = {slug: Campaign.objects.get(name=slug) for slug in ("da-likert", "qg")}
        assert {slug: (each.protocol, each.method, each.method_options) for slug, each in now.items()} == {
            "da-likert": ("likert", "direct_assessment", {}),
            "qg": ("qg", "direct_assessment", {}),
        }


def test_rows_of_crowd_platforms_survive_their_new_names(sqlite: UsingDatabase, stored: object) -> None:
    with sqlite("old"):
        campaign = Campaign.objects.get(name="draft")
        assert campaign.account_data == {"hit_type": "H1"}
        notification = ReceivedNotification.objects.get(campaign=campaign, fingerprint="f1")
        at, posting, submission = notification.at, Posting.objects.get(), Submission.objects.get()
        assert (posting.polled_at, posting.poll_at) == (at, at)
        assert (submission.discrepancy, submission.payload) == ("wrong-code", {"Answer": "x"})
        assert (submission.last_seen_at, submission.dismissed_at) == (at, at)
