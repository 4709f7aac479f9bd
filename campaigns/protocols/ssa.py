"""Sensibleness and specificity of chatbots' replies (Adiwardana et al. 2020)."""

from dataclasses import replace

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Scope, Screen
from campaigns.design.composition import SYSTEMS_OF_6, Mix

NO_YES = {"labels": "no\nyes", "lowest": 0}
YES = ("1",)
SENSIBLE = CriterionSpec("sensible", "Does the reply make sense?", response="scale", settings=NO_YES)
SPECIFIC = CriterionSpec(
    "specific",
    "Is the reply specific to what was said before?",
    is_in_worker_test=False,  # only asked of replies that make sense
    response="scale",
    settings=NO_YES,
    shown_on=SENSIBLE.name,
    shown_values=YES,
)


_WHAT_IS_ASKED = """\
- **Does it make sense?** Answer *yes* if it is a reasonable reply to what was said before: clear, logical and not in
  contradiction to it. If anything is confusing, out of place or wrong, answer *no*.
- If it makes sense, you are asked a second question: **is it specific?** Answer *yes* if it is about what was said
  before. If it could be said in many other dialogues just as well, answer *no*. To *“I love tennis”*, the reply
  *“That is nice”* is not specific, and *“Me too, I cannot get enough of Roger Federer”* is.
"""


class SensibleSpecific(Protocol):
    """A worker reads a dialogue and the chatbot's reply to it, and says whether it makes sense, and if so, specific."""

    slug = "ssa"
    title = "Sensible and specific replies (SSA)"
    summary = "A chatbot's replies in dialogues: do they make sense, and are they specific?"
    writes = ("replies",)
    tasks = ("choose",)
    good_for = "Two plain questions about each reply: sensible, and specific?"
    paper = Paper("Adiwardana et al. 2020", "https://arxiv.org/abs/2001.09977")
    names = ("SSA", "Meena", "sensibleness", "specificity")
    picture = "img/protocols/ssa.webp"
    criteria = (SENSIBLE, SPECIFIC)
    worker_test = "sign"
    method = "ssa"
    screen = Screen(
        fields=(Field("dialogue", "Dialogue", format="dialogue"),),
        output_label="The reply to judge",
        output_format="reply",
    )
    mix = Mix(20, 8, 2)
    instructions = f"""\
You will read the beginnings of dialogues between a person and a chatbot. **The last reply of the chatbot is marked.
Judge only this reply.**

{_WHAT_IS_ASKED}
Judge each reply by itself. You cannot go back to an earlier reply.

{FEEDBACK_NOTE}"""


class SensibleSpecificChats(Protocol):
    """A worker chats, then says of each reply of the chatbot whether it makes sense, and if so, specific."""

    slug = "ssa-chat"
    title = "Live chats, sensible and specific replies (SSA)"
    summary = "Live chats; after each, every reply of the chatbot: does it make sense, and is it specific?"
    writes = ("chats",)
    tasks = ("chat", "choose")
    good_for = "Live chats of which each reply counts, not the impression of the whole."
    paper = Paper("Adiwardana et al. 2020", "https://arxiv.org/abs/2001.09977")
    names = ("SSA", "Meena", "sensibleness", "specificity")
    picture = "img/protocols/ssa-chat.webp"
    criteria = tuple(replace(each, scope=Scope.TURN.value) for each in (SENSIBLE, SPECIFIC))
    worker_test = "unpaired-ranksum"
    method = "ssa"
    mix = SYSTEMS_OF_6
    chat = ChatRules(opening="free", min_inputs=7)  # so at least 14 turns, as in the paper
    instructions = f"""
You will chat with several chatbots, one after the other. After each chat you judge the chatbot's replies, one by one.

- Each chat begins with **a topic of your choice**: type what you would like to talk about, such as a hobby, a film or
  your favourite food. Say whether you like this topic, dislike it or are ambivalent (in between).
- Write **at least 7 messages** to each chatbot. The page counts them. You may write more before you go on.
- **A reply may take some seconds.** Please wait for it.
- Talk naturally, as you would with somebody you have just met: write whole sentences, and answer what the chatbot says.
- When the topic changes, press **Topic**: say who changed it, what the new topic is, and whether the chatbot seems to
  like it.

After each chat you see it again. Judge **each reply of the chatbot** by what was said before it:

{_WHAT_IS_ASKED}
You cannot go back to an earlier chat or change what you answered.

**Do not write anything private**: no names, addresses, telephone numbers or anything else that says who you or others
are. What you write is kept and may be published for research.

{FEEDBACK_NOTE}"""
