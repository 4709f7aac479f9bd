"""Open-domain dialogue (Ji et al. 2022, Fig. 1): live chats, or dialogues that were collected before."""

from dataclasses import replace

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import SYSTEMS_OF_6, Mix

_CRITERIA = (
    CriterionSpec(
        "robotic",
        "It was obvious that I was talking to a chatbot as opposed to another human user.",
        is_negative=True,
        is_in_worker_test=False,
    ),
    CriterionSpec("interesting", "The conversation with the chatbot was interesting."),
    CriterionSpec("fun", "The conversation with the chatbot was fun/enjoyable."),
    CriterionSpec("consistent", "The chatbot was consistent throughout the conversation."),
    CriterionSpec("fluent", "The chatbot's English was fluent and natural throughout the conversation."),
    CriterionSpec(
        "repetitive",
        "I felt that the chatbot kept being repetitive during the conversation.",
        is_negative=True,
        is_in_worker_test=False,
    ),
    CriterionSpec("topic", "The chatbot stays on topic."),
)

_RULES = f"""
- Write **at least 10 messages** to each chatbot. The page counts them. You may write more before you go on.
- **A reply may take some seconds.** Please wait for it.
- Talk naturally, as you would with somebody you have just met: write whole sentences, and answer what the chatbot says.
- When the topic changes, press **Topic**: say who changed it, what the new topic is, and whether the chatbot seems to
  like it.
- After each chat, say how far you agree with **seven statements** about it. Rate this chat by itself. Move each slider
  towards *strongly agree* or *strongly disagree*, and use its whole length for what lies in between.
- You cannot go back to an earlier chat or change what you rated.

**Do not write anything private**: no names, addresses, telephone numbers or anything else that says who you or others
are. What you write is kept and may be published for research.

{FEEDBACK_NOTE}"""


class DialogueFree(Protocol):
    """A worker chats about a topic of their own choice, then rates the chatbot."""

    slug = "dialogue-free"
    title = "Dialogue, free topic"
    summary = "Live chats on a topic that the worker chooses, rated on seven criteria."
    writes = ("chats",)
    tasks = ("chat", "slider")
    good_for = "Open-domain chatbots that people talk with about what they like."
    paper = Paper("Ji et al. 2022", "https://aclanthology.org/2022.acl-long.445/")
    names = ("live chat", "open-domain", "direct assessment", "DA")
    picture = "img/protocols/dialogue-free.webp"
    criteria = _CRITERIA
    worker_test = "unpaired-ranksum"
    n_counts = "ratings"
    mix = SYSTEMS_OF_6
    chat = ChatRules(opening="free")
    instructions = f"""
You will chat with several chatbots, one after the other. After each chat you rate the chatbot.

- Each chat begins with **a topic of your choice**: type what you would like to talk about, such as a hobby, a film or
  your favourite food. Say whether you like this topic, dislike it or are ambivalent (in between).
{_RULES.strip()}
"""


class DialogueIcebreaker(Protocol):
    """A worker chats about a statement of the chatbot's persona, then rates the chatbot."""

    slug = "dialogue-icebreaker"
    title = "Dialogue, ice-breaker"
    summary = "Live chats that begin from a statement of the chatbot's persona, rated on seven criteria."
    writes = ("chats",)
    tasks = ("chat", "slider")
    good_for = "Chatbots with a persona, which begin the chat with a statement of it."
    paper = Paper("Ji et al. 2022", "https://aclanthology.org/2022.acl-long.445/")
    names = ("live chat", "persona", "ice-breaker", "direct assessment", "DA")
    picture = "img/protocols/dialogue-icebreaker.webp"
    criteria = _CRITERIA
    worker_test = "unpaired-ranksum"
    n_counts = "ratings"
    mix = SYSTEMS_OF_6
    chat = ChatRules(opening="icebreaker")
    instructions = f"""
You will chat with several chatbots, one after the other. After each chat you rate the chatbot.

- Each chat begins with **a topic that you are given**: a sentence that somebody might say about themselves. Say whether
  you like this topic, dislike it or are ambivalent (in between), and begin the chat with it.
{_RULES.strip()}
"""


# Readers of a dialogue did not take part in it.
_OF_READERS = {"robotic": "It was obvious that the person was talking to a chatbot as opposed to another human user."}


class StaticDialogue(Protocol):
    """A worker reads a whole dialogue, then rates its chatbot."""

    slug = "dialogue-static"
    title = "Dialogue, transcripts"
    summary = "Whole dialogues that were collected before, read and rated on seven criteria."
    writes = ("dialogues",)
    tasks = ("slider",)
    good_for = "Dialogues that exist already: no chatbot has to run."
    paper = Paper("Ji et al. 2022", "https://aclanthology.org/2022.acl-long.445/")
    names = ("direct assessment", "DA", "transcripts")
    picture = "img/protocols/dialogue-static.webp"
    criteria = tuple(replace(each, statement=_OF_READERS.get(each.name, each.statement)) for each in _CRITERIA)
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
    summary = "A chatbot's replies in dialogues that were collected before, each rated in its context."
    writes = ("replies",)
    tasks = ("slider",)
    good_for = "Single replies in their context, on several aspects."
    paper = Paper("Ji et al. 2022", "https://aclanthology.org/2022.acl-long.445/")
    names = ("turn-level", "direct assessment", "DA", "response generation")
    picture = "img/protocols/dialogue-turn.webp"
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
