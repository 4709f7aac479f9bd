"""Data of existing installations, migrated from the state before a change."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from campaigns.connectors.http_json.plugin import TEMPLATE
from campaigns.connectors.openai_chat.plugin import SYSTEM_PROMPT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _latest() -> Iterator[None]:
    """Leave the database as the code wants it, whatever a test did."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def migrate(name: str) -> Any:
    """Migrate campaigns to a migration, back or on; return the models of that state."""
    target = [("campaigns", name)]
    MigrationExecutor(connection).migrate(target)
    return MigrationExecutor(connection).loader.project_state(target).apps


class TestTopicOfChats:
    BEFORE, AFTER = "0003_platforms", "0004_chat_topic"
    RULES = {"opening": "free", "min_inputs": 10, "max_inputs": 100, "longest_input": 5000}
    LINE = "You talk about this: {topic}"
    PROMPT = SYSTEM_PROMPT.replace("This is you", f"{LINE}\nThis is you")
    TEMPLATE = TEMPLATE.replace('  "persona"', '  "topic": "{{topic}}",\n  "persona"')

    @pytest.fixture
    def before(self) -> Any:
        return migrate(self.BEFORE)

    def add(
        self, apps: Any, *chatbots: tuple[str, dict[str, Any]], is_launched: bool = False, chat: Any = RULES
    ) -> int:
        """Return a campaign of the state before, with these chatbots and the degraded one."""
        launched_at = timezone.now() if is_launched else None
        campaign = apps.get_model("campaigns", "Campaign").objects.create(
            name="Old", chat=chat, launched_at=launched_at
        )
        for number, (connector, settings) in enumerate((*chatbots, ("degraded", {}))):
            system = apps.get_model("campaigns", "System").objects.create(campaign=campaign, name=f"{number}")
            apps.get_model("campaigns", "Chatbot").objects.create(
                system=system, connector=connector, settings=settings, tested={"ok": True}
            )
        return campaign.pk

    def rules(self, apps: Any, campaign: int) -> dict[str, Any]:
        return apps.get_model("campaigns", "Campaign").objects.get(pk=campaign).chat

    def chatbots(self, apps: Any, campaign: int) -> list[Any]:
        found = apps.get_model("campaigns", "Chatbot").objects.filter(system__campaign=campaign)
        return list(found.order_by("system__name"))

    def test_a_launched_campaign_keeps_what_its_chatbots_were_sent(self, before: Any) -> None:
        was_sent: list[tuple[str, dict[str, Any], bool]] = [
            ("openai-chat", {"system_prompt": self.PROMPT}, True),
            ("openai-chat", {"system_prompt": "On {topic}."}, True),
            ("openai-chat", {}, True),
            ("http-json", {"template": self.TEMPLATE}, True),
            ("http-json", {"template": '{"a": "{{text}}", "b": "On {{ topic }}"}'}, True),
            ("python", {"class_path": "a.B"}, True),
            ("retrieval", {}, True),
            ("of-another-site", {}, True),
            ("openai-chat", {"system_prompt": "Be kind."}, False),
            ("openai-chat", {"system_prompt": ""}, False),
            ("http-json", {"template": '{"a": "{{text}}", "b": "{topic}"}'}, False),
            ("degraded", {}, False),
        ]
        launched = [self.add(before, (name, settings), is_launched=True) for name, settings, _ in was_sent]
        after = migrate(self.AFTER)
        for pk, (connector, settings, expected) in zip(launched, was_sent, strict=True):
            assert self.rules(after, pk) == self.RULES | {"sends_topic": expected}, (connector, settings)
            chatbot, _ = self.chatbots(after, pk)
            assert chatbot.settings.items() >= settings.items()
            assert chatbot.tested == {"ok": True}
        without_prompt, _ = self.chatbots(after, launched[2])
        assert without_prompt.settings == {"system_prompt": self.PROMPT}, "it would be asked otherwise than before"

    def test_a_draft_sends_no_topic_and_its_default_texts_lose_it(self, before: Any) -> None:
        own = {"system_prompt": "Talk about {topic}, kindly."}
        draft = self.add(
            before,
            ("openai-chat", {"system_prompt": self.PROMPT, "model": "tiny"}),
            ("http-json", {"template": self.TEMPLATE.replace("\n", "\r\n")}),
            ("openai-chat", {"system_prompt": f"Be kind.\n{self.LINE}\nBe brief."}),
            ("openai-chat", own),
        )
        of_outputs = self.add(before, is_launched=True, chat={})
        after = migrate(self.AFTER)
        assert self.rules(after, draft) == self.RULES | {"sends_topic": False}
        assert self.rules(after, of_outputs) == {}
        chatbots = self.chatbots(after, draft)
        assert [each.settings for each in chatbots] == [
            {"system_prompt": SYSTEM_PROMPT, "model": "tiny"},
            {"template": TEMPLATE},
            {"system_prompt": "Be kind.\nBe brief."},
            own,
            {},
        ]
        assert [each.tested.get("is_outdated", False) for each in chatbots] == [True, True, True, False, False]

    def test_the_code_of_before_can_read_what_is_migrated_back(self, before: Any) -> None:
        launched = self.add(before, ("retrieval", {}), is_launched=True)
        migrate(self.AFTER)
        assert self.rules(migrate(self.BEFORE), launched) == self.RULES


class TestStudyOfWorkers:
    BEFORE, AFTER = "0005_worker_test_none", "0006_study"

    def test_a_campaign_from_before_has_no_study_name_and_no_contact(self) -> None:
        old = migrate(self.BEFORE).get_model("campaigns", "Campaign").objects.create(name="Old", instructions="Rate.")
        new = migrate(self.AFTER).get_model("campaigns", "Campaign").objects.get(pk=old.pk)
        assert (new.name, new.instructions, new.study_name, new.contact) == ("Old", "Rate.", "", "")
