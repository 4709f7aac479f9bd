"""Open-domain dialogue with live chats (Ji et al. 2022, Fig. 1)."""

from campaigns.contracts.protocol import CriterionSpec, Protocol
from campaigns.design.composition import SYSTEMS_OF_6

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


class DialogueFree(Protocol):
    """A worker chats about a topic of their own choice, then rates the chatbot."""

    slug = "dialogue-free"
    title = "Dialogue, free topic"
    summary = "Live chats on a topic that the worker chooses, rated on seven criteria."
    criteria = _CRITERIA
    worker_test = "unpaired-ranksum"
    mix = SYSTEMS_OF_6
    is_live = True


class DialogueIcebreaker(Protocol):
    """A worker chats about a statement of the chatbot's persona, then rates the chatbot."""

    slug = "dialogue-icebreaker"
    title = "Dialogue, ice-breaker"
    summary = "Live chats that begin from a statement of the chatbot's persona, rated on seven criteria."
    criteria = _CRITERIA
    worker_test = "unpaired-ranksum"
    mix = SYSTEMS_OF_6
    is_live = True
