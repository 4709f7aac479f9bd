"""Live chats with two chatbots side by side, of which one is better (Chatbot Arena; ACUTE-Eval of live chats)."""

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Paper, Protocol, Scope
from campaigns.design.composition import Layout, Mix
from campaigns.design.paging import PageKind


class CompareChats(Protocol):
    """A worker sends each message to two chatbots at once, reads both replies, and in the end says which is better.

    The degraded chatbot must lose all 5 of its chats for a worker to pass the sign test with one HIT; over several HITs
    it may win some.
    """

    slug = "compare-chats"
    title = "Side-by-side chats"
    summary = "Live chats with two chatbots at once: which one is better?"
    writes = ("chats",)
    tasks = ("chat", "compare")
    good_for = "Two chatbots at once: which would people rather talk to?"
    paper = Paper("Chiang et al. 2024", "https://arxiv.org/abs/2403.04132")
    names = ("Chatbot Arena", "ACUTE-Eval", "pairwise comparison", "A/B test")
    picture = "img/protocols/compare-chats.webp"
    criteria = (
        CriterionSpec(
            "preference",
            "Which chatbot is better to talk to?",
            response="preference",
            settings={"may_tie": "yes"},
            scope=Scope.PAGE.value,
        ),
    )
    worker_test = "sign"
    page_kind = PageKind.COMPARISON
    mix = Mix(5, 5, layout=Layout.BY_SYSTEM)
    method = "preference"
    chat = ChatRules(opening="free", min_inputs=4)
    instructions = f"""
You will chat with **two chatbots at once, A and B**. Each message that you write goes to both, and you see both
replies, side by side or one below the other. After each chat you say which chatbot is better.

- Each chat begins with **a topic of your choice**: type what you would like to talk about, such as a hobby, a film or
  your favourite food. Say whether you like this topic, dislike it or are ambivalent (in between).
- Write **at least 4 messages** in each chat. The page counts them. You may write more before you go on.
- **A reply may take some seconds.** Please wait for both.
- Talk naturally, as you would with somebody you have just met: write whole sentences, and answer what the chatbots say.
  Where they say different things, answer the one you like, or both.
- After each chat, say **which chatbot is better to talk to**. A and B may be other chatbots in each chat.
  Choose *Both are equally good* only if you see no difference that matters.

Judge each chat by itself. You cannot go back to an earlier one.

**Do not write anything private**: no names, addresses, telephone numbers or anything else that says who you or others
are. What you write is kept and may be published for research.

{FEEDBACK_NOTE}"""
