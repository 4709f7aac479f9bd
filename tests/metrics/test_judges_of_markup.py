"""Judges of Markdown, conversations and traces: what they are sent is the text as it was written, and who said it."""

import json

import pytest

from campaigns.design.composition import KINDS
from campaigns.formats import get_format
from campaigns.models import Output
from evalsite.accounts.models import User
from simulators.chat_completions import ChatServer
from tests.annotation.cast import build, launch
from tests.campaigns.cast import make_campaign
from tests.metrics.judges import added, ask

pytestmark = pytest.mark.django_db
MARKDOWN = """\
## Tea

1. Put in **two spoons**, see [the tin](https://example.org/tin).

| tea | minutes |
|---|---|
| green | $2x$ |

```python
wait(minutes=2)
```"""
TALK = [
    {"role": "system", "content": "Be *brief*."},
    {"role": "user", "content": "When does the train leave?"},
    {
        "role": "assistant",
        "content": "Let me **look**.",
        "tool_calls": [{"id": "c1", "function": {"name": "timetable", "arguments": '{"to": "Basel"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "08:02, 08:32"},
    {"role": "assistant", "content": "At 8:32, from platform 5."},
]
STEPS = [
    {
        "thought": "I need *times*.",
        "call": {"tool": "timetable", "arguments": {"to": "Basel"}},
        "result": "08:02",
    },
    {"answer": "I booked the train at 8:32."},
]
READ: dict[str, tuple[str, str]] = {
    "llm-answer": (MARKDOWN, f"Answer (rate this):\n{MARKDOWN}"),
    "conversation": (
        json.dumps(TALK),
        """\
Conversation (rate this):
System prompt: Be *brief*.
Person: When does the train leave?
Chatbot: Let me **look**.
Call of timetable: to: Basel
Result of timetable: 08:02, 08:32
Chatbot: At 8:32, from platform 5.""",
    ),
    "agent-trace": (
        json.dumps(STEPS),
        """\
What the agent did (rate this):
Summary: 2 steps, 1 call, no error.
Final answer: I booked the train at 8:32.
Step 1: I need *times*.
Call of timetable: to: Basel
Result: 08:02
Step 2 · final answer: I booked the train at 8:32.""",
    ),
}
"""By protocol: an output as it is imported, and what a judge reads of it."""


@pytest.mark.parametrize("slug", READ)
def test_a_judge_is_sent_the_text_with_its_markup_and_who_said_it_and_no_more(
    owner: User, server: ChatServer, slug: str
) -> None:
    campaign = make_campaign(owner, slug)
    build(campaign, n_hits=1, n_systems=2)
    output, read = READ[slug]
    text = get_format(campaign.screen["output_format"]).read(output, is_output=True)
    Output.objects.filter(source__campaign=campaign).update(text=text)
    names = ["zirconium-7b", "beryllium-70b"]
    for system, name in zip(campaign.systems.all(), names, strict=True):
        system.name = name
        system.save()
    launch(campaign)
    answer = json.dumps({str(n): 60 for n in range(1, campaign.criteria.count() + 1)})
    server.reply_to = lambda body: answer
    ask(added(campaign, owner, server), owner)
    assert len(server.received) == 2
    for request in server.received:
        [message] = request.body["messages"]
        assert message["role"] == "user"
        page = message["content"].split("----- page ")[1].split("\n----- end ")[0]
        assert page.endswith(f"\n\n{read}")
        sent = json.dumps([request.body, request.path]).casefold()
        assert not any(name in sent for name in [*names, *KINDS])
