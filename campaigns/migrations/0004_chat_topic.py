"""Whether chatbots are sent the topic becomes a chat rule. Until now every chatbot was sent it, if it had a place for it.

A launched campaign has the rule on if one of its chatbots was sent the topic. In the others the topic is not sent, and
the texts that held it by default do not hold it any more; a text of the researcher's own is left, and the check-list
names its chatbot.
"""

import re

from django.db import migrations

_RULE = "sends_topic"
_PROMPT, _TOPIC_LINE = "system_prompt", "You talk about this: {topic}"
_FORMER_PROMPT = f"""\
You are chatting with another person online. Write as people do in a chat: one to three short sentences of plain text, \
without lists or headings. Talk about what the other person says, and ask something back now and then.
{_TOPIC_LINE}
This is you; live up to every one of these statements in all that you say: {{persona}}"""
_TEMPLATE = "template"
_FORMER_TEMPLATE = """\
{
  "text": "{{text}}",
  "turns": "{{turns}}",
  "topic": "{{topic}}",
  "persona": "{{persona}}",
  "chat": "{{chat}}",
  "seed": "{{seed}}"
}"""
_TOPIC_FIELD = '  "topic": "{{topic}}",\n'
# By connector: the option that may have a place for the topic, what it was by default, and that place.
_OPTIONS = {
    "openai-chat": (_PROMPT, _FORMER_PROMPT, re.compile(r"\{topic\}")),
    "http-json": (_TEMPLATE, _FORMER_TEMPLATE, re.compile(r"\{\{\s*topic\s*\}\}")),
}


def add_rule(apps, schema_editor):
    """Write the rule, and the default texts of before, where workers have chatted by them; else take the topic out."""
    chatbots = apps.get_model("campaigns", "Chatbot").objects
    for campaign in apps.get_model("campaigns", "Campaign").objects.exclude(chat={}).iterator():
        of_campaign = list(chatbots.filter(system__campaign=campaign))
        is_launched = campaign.launched_at is not None
        for chatbot in of_campaign:
            before = dict(chatbot.settings)
            if is_launched:
                _keep_text(chatbot)
            else:
                _take_out(chatbot)
                if chatbot.tested and chatbot.settings != before:
                    chatbot.tested = {**chatbot.tested, "is_outdated": True}
            if chatbot.settings != before:
                chatbot.save(update_fields=["settings", "tested"])
        campaign.chat[_RULE] = is_launched and any(map(_was_sent_topic, of_campaign))
        campaign.save(update_fields=["chat"])


def remove_rule(apps, schema_editor):
    """Take the rule away, which the code of before does not know."""
    for campaign in apps.get_model("campaigns", "Campaign").objects.exclude(chat={}).iterator():
        campaign.chat.pop(_RULE, None)
        campaign.save(update_fields=["chat"])


def _keep_text(chatbot):
    if chatbot.connector in _OPTIONS:
        name, default, _ = _OPTIONS[chatbot.connector]
        chatbot.settings.setdefault(name, default)


def _take_out(chatbot):
    settings = chatbot.settings
    if chatbot.connector == "openai-chat":
        lines = str(settings.get(_PROMPT) or "").splitlines()
        if _TOPIC_LINE in lines:
            settings[_PROMPT] = "\n".join(line for line in lines if line != _TOPIC_LINE)
    elif chatbot.connector == "http-json":
        text = "\n".join(str(settings.get(_TEMPLATE) or "").strip().splitlines())
        if text == _FORMER_TEMPLATE:
            settings[_TEMPLATE] = text.replace(_TOPIC_FIELD, "")


def _was_sent_topic(chatbot):
    if chatbot.connector not in _OPTIONS:
        return chatbot.connector != "degraded"
    name, _, place = _OPTIONS[chatbot.connector]
    return bool(place.search(str(chatbot.settings.get(name) or "")))


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0003_platforms"),
    ]

    operations = [
        migrations.RunPython(add_rule, remove_rule),
    ]
