"""Open-domain dialogue that was collected elsewhere: whole dialogues, or the replies in them one by one."""

from dataclasses import replace

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import Mix
from campaigns.protocols.dialogue.plugin import CRITERIA

# Who reads a dialogue did not take part in it.
_OF_READERS = {"robotic": "It was obvious that the person was talking to a chatbot as opposed to another human user."}


class StaticDialogue(Protocol):
    """A worker reads a whole dialogue, then rates its chatbot."""

    slug = "dialogue-static"
    title = "Dialogue, transcripts"
    summary = "Whole dialogues that were collected elsewhere, read and rated on seven criteria."
    criteria = tuple(replace(each, statement=_OF_READERS.get(each.name, each.statement)) for each in CRITERIA)
    worker_test = "paired-wilcoxon"
    n_counts = "ratings"
    screen = Screen(
        fields=(Field("topic", "Topic", is_required=False),), output_label="Dialogue", output_format="dialogue"
    )
    mix = Mix(7, 2, 1)  # some 25 minutes; 2 twins × 5 criteria are 10 pairs for the worker test
    instructions = f"""\
You will read dialogues between a person and a chatbot. Below each dialogue there are statements about the chatbot. Say
how far you agree with them.

- Read the whole dialogue first.
- Rate the chatbot, not the person.
- Move each slider towards *strongly agree* or *strongly disagree*, and use its whole length for what lies in between.

Rate each dialogue by itself. You cannot go back to an earlier dialogue.

{FEEDBACK_NOTE}"""


class DialogueTurn(Protocol):
    """A worker reads the beginning of a dialogue and the chatbot's reply to it, and rates the reply."""

    slug = "dialogue-turn"
    title = "Dialogue, single replies"
    summary = "A chatbot's replies in dialogues that were collected elsewhere, each rated in its context."
    criteria = (
        CriterionSpec("sensible", "The reply makes sense after what was said before."),
        CriterionSpec("interesting", "The reply is interesting."),
        CriterionSpec("topic", "The reply stays on topic."),
        CriterionSpec("fluent", "The reply is fluent and natural."),
        CriterionSpec(
            "repetitive", "The reply repeats what was said before.", is_negative=True, is_in_worker_test=False
        ),
    )
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("dialogue", "Dialogue", format="dialogue"),),
        output_label="The reply to rate",
        output_format="reply",
    )
    mix = Mix(14, 4, 2)
    instructions = f"""\
You will read the beginnings of dialogues between a person and a chatbot. **The last reply of the chatbot is marked.
Rate only this reply.** Say how far you agree with the statements about it.

- First read what was said before, then the marked reply.
- Move each slider towards *strongly agree* or *strongly disagree*, and use its whole length for what lies in between.

Rate each reply by itself. You cannot go back to an earlier reply.

{FEEDBACK_NOTE}"""
