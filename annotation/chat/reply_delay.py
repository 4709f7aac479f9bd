"""How long a degraded chatbot takes to answer: as long as the others do, so that speed does not tell it from them."""

from annotation.models import Conversation, Turn
from campaigns.design.seeds import draw_below, generator
from campaigns.models import Campaign, Chatbot

_LATEST = 50
_TURNS_OF_ONE_REPLY = 2
_PACING = 2
# Nobody waits longer for a reply that was there at once: so long as chatbots have for one, unless told otherwise.
_LONGEST_S = 30.0
_MS_PER_S = 1000


def pace_of(campaign: Campaign, conversation_id: int, n_turns: int) -> float:
    """Return the seconds that one of the latest 50 replies of the campaign's other chatbots took, drawn by its seed.

    Its newest 50 chats with a reply are looked at. While there is none, one of the times that their tests took; 0
    without those too. Two queries at most.
    """
    answered = Conversation.objects.filter(
        assignment__campaign=campaign, item__output__system__is_degraded=False, n_turns__gte=_TURNS_OF_ONE_REPLY
    )
    # The replies of its newest chats: those of all chats of the site are too many to look through.
    chats = answered.order_by("-pk").values("pk")[:_LATEST]
    replies = Turn.objects.filter(conversation__in=chats, speaker=Turn.Speaker.CHATBOT)
    latest = list(replies.order_by("-pk").values_list("data", flat=True)[:_LATEST])
    took_ms = [data["answered_ms"] for data in latest if "answered_ms" in data]
    if not took_ms:
        others = Chatbot.objects.filter(system__campaign=campaign, system__is_degraded=False).order_by("pk")
        took_ms = [tested["took_ms"] for tested in others.values_list("tested", flat=True) if "took_ms" in tested]
    if not took_ms:
        return 0.0
    rng = generator(campaign.seed, _PACING, conversation_id, n_turns)
    return min(float(took_ms[draw_below(len(took_ms), rng)]) / _MS_PER_S, _LONGEST_S)
