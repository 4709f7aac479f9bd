"""What simulated workers say in chats: canned inputs by topic. Careful workers draw from them, careless ones do not.

A careful worker has a topic, says what belongs to it and, in between, what fits any chat, nothing twice; now and then
the topic changes, and they note it. A careless one writes a word or says the same again and again. Which, and in which
order, follows from the seed, the worker, the HIT and the position alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from types import MappingProxyType

import numpy as np

from annotation.simulation.crowd import CHAT, Item, Manner, SimulatedWorker
from campaigns.design.seeds import draw_below, generator, shuffled

# Of the study's workers so many liked their topic, were ambivalent about it, disliked it.
OPINIONS = {"like": 0.84, "ambivalent": 0.07, "dislike": 0.09}
CHANGING, WORDY = 0.25, 0.3
_CHANGED_BY = ("chatbot", "last", "next")
# How many of a careful worker's inputs, after the first, are about the topic; the others fit any.
_ON_TOPIC = 0.6

TOPICS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "cooking at home": (
            "Hi! I cook most evenings. Do you like cooking?",
            "What is the best thing you have ever made?",
            "I made a lentil soup yesterday and it turned out far too salty.",
            "Do you follow recipes or do you just make it up as you go?",
            "My grandmother taught me how to bake bread when I was six.",
            "Which spices do you use the most?",
            "I can never get rice right. Any tips?",
            "Would you rather cook for two people or for twenty?",
        ),
        "football": (
            "Hello, did you watch the match last night?",
            "I have supported the same team since I was a child.",
            "Do you think referees make too many mistakes?",
            "Who is the best player you have ever seen?",
            "I used to play in goal at school, but I was terrible.",
            "Is it better to watch at home or in the stadium?",
            "Tickets have become so expensive that I hardly go any more.",
            "What would you change about the rules?",
        ),
        "gardening": (
            "Hi there, I started growing vegetables this spring.",
            "The slugs have eaten all of my lettuce. What would you do?",
            "Do you have a garden or a balcony?",
            "I find it relaxing to pull up weeds after work.",
            "Which flowers are easy to look after?",
            "My tomatoes are still green and it is nearly autumn.",
            "Have you ever tried to grow something from seed?",
            "I would love to have an apple tree one day.",
        ),
        "travelling by train": (
            "Hello! I am planning a long trip by train. Have you ever done that?",
            "I like to look out of the window and think of nothing.",
            "What was the longest journey you have been on?",
            "Do you talk to strangers on trains?",
            "Night trains are coming back, which makes me happy.",
            "The last time I missed my connection by one minute.",
            "Which country would you cross if you had a month?",
            "I always take too much luggage. How do you pack?",
        ),
        "books": (
            "Hi, what are you reading at the moment?",
            "I have just finished a novel about a lighthouse keeper.",
            "Do you prefer paper or a screen?",
            "I cannot put a book away before I know how it ends.",
            "Which book would you give to a friend?",
            "I never understood why everybody loves poetry.",
            "Is there a book that you have read more than once?",
            "Our library closes at five, which is much too early.",
        ),
        "pets": (
            "Hello, do you have any pets?",
            "My dog is afraid of the vacuum cleaner.",
            "Are you more of a cat person or a dog person?",
            "We found a kitten under our car last winter and kept her.",
            "How do you feel about people who keep snakes?",
            "She wakes me up at six every morning, even on Sundays.",
            "Do animals understand what we say to them?",
            "I would like to get a second one. Is that a good idea?",
        ),
        "music": (
            "Hi! What kind of music do you listen to?",
            "I have been learning the guitar for about two years.",
            "Have you ever been to a big concert?",
            "I can't work with music on. Can you?",
            "My neighbour plays the trumpet, always the same four bars.",
            "Which song cheers you up on a bad day?",
            "I think the nineties had the best music. Do you agree?",
            "Would you rather play an instrument well or sing well?",
        ),
        "films": (
            "Hello, have you seen anything good lately?",
            "I watched an old detective film yesterday and guessed the ending.",
            "Do you like films that make you cry?",
            "I fall asleep in front of almost everything after ten.",
            "Which film could you watch again and again?",
            "Why are there so many sequels nowadays?",
            "I prefer the cinema, but popcorn noises drive me mad.",
            "Who should play you in a film about your life?",
        ),
        "working from home": (
            "Hi, I have worked from home for three years now. And you?",
            "I miss the chats in the kitchen more than I expected.",
            "How do you stop working in the evening?",
            "My desk is in the bedroom, which is not ideal.",
            "Do you dress up for video calls?",
            "I get much more done in the morning than after lunch.",
            "Would you go back to an office every day?",
            "The worst thing is the noise from the building site next door.",
        ),
        "the sea": (
            "Hello! I grew up by the sea. Do you like it?",
            "In winter we used to collect driftwood after storms.",
            "Can you swim well?",
            "I have always wanted to see a whale.",
            "Which is better, a sandy beach or a rocky one?",
            "I get seasick even on a pedal boat.",
            "What do you think lives at the very bottom?",
            "Fish and chips taste best when your fingers are cold.",
        ),
        "learning languages": (
            "Hi, I am trying to learn Portuguese. Do you speak any other languages?",
            "I keep forgetting the words that I learned the day before.",
            "What is the best way to practise speaking?",
            "My accent makes everybody laugh, but I don't mind.",
            "Do you think children really learn faster?",
            "I once ordered the wrong dish because of one letter.",
            "Which language sounds the most beautiful to you?",
            "Grammar is easier for me than listening.",
        ),
        "running": (
            "Hello, I have signed up for a half marathon. Do you run?",
            "My knees hurt after ten kilometres. Should I rest?",
            "I run in the park before breakfast, when it is quiet.",
            "What do you think about when you exercise?",
            "Is it worth buying expensive shoes?",
            "The first ten minutes are always the hardest.",
            "Do you like to run alone or with others?",
            "Rain does not bother me, but wind does.",
        ),
    }
)

FOLLOW_UPS = (
    "Really? Tell me more about that.",
    "What makes you say so?",
    "That's interesting, I had never thought of it that way.",
    "I see what you mean.",
    "Haha, that happens to me all the time.",
    "How long have you been doing that?",
    "I'm not sure that I agree with you there.",
    "Why do you think that is?",
    "And how did that make you feel?",
    "That reminds me of something a friend told me last week.",
    "What would you do if you had more time for it?",
    "Sorry, I don't quite follow. Can you explain?",
    "Do most of your friends feel the same?",
    "I used to think so too when I was younger.",
    "What did your family say about it?",
    "OK, that makes sense.",
    "Would you recommend it to somebody like me?",
    "What do you like most about it?",
    "I have never tried that. Is it difficult?",
    "Where did you hear about that?",
    "Good point! What else?",
    "It depends on the day, to be honest.",
)

WORDS = ("ok", "yes", "no", "hi", "good", "lol", "cool", "nice", "idk", "sure", "what", "asdf")
REPEATED = ("hello", "good", "tell me something", "nice chat", "yes i like it")


@dataclass(frozen=True)
class Change:
    """A change of topic, to be noted before the worker's next input: after `n_inputs` of theirs."""

    n_inputs: int
    by: str
    topic: str
    attitude: str


@dataclass(frozen=True)
class ChatPlan:
    """What a worker means to say in one chat, and for how long they put up with a chatbot that does not answer.

    `telemetry` is of each input, as the page's script reports it. They press *Try again* up to `n_agains` times.
    """

    topic: str
    opinion: str
    inputs: tuple[str, ...]
    telemetry: tuple[Mapping[str, int], ...]
    n_agains: int
    change: Change | None = None

    def cut(self, n_inputs: int) -> "ChatPlan":
        """Return the plan with so many inputs at most."""
        return replace(self, inputs=self.inputs[:n_inputs])


def plan_chat(worker: SimulatedWorker, item: Item, n_inputs: int) -> ChatPlan:
    """Return what a worker will say in the chat of an item: `n_inputs` inputs or, of the careful, sometimes more."""
    rng = generator(worker.crowd.seed, CHAT, worker.index, item.hit, item.position)
    is_careful = worker.manner is Manner.CAREFUL
    topic, other = (list(TOPICS)[place] for place in shuffled(len(TOPICS), rng)[:2])
    opinion, n_agains = _opinion(rng), 1 + draw_below(2, rng)
    if not is_careful:
        inputs = _careless(worker.manner, n_inputs, rng)
        return ChatPlan(topic, opinion, inputs, _telemetry(inputs, worker.manner, rng), n_agains)
    n_inputs += draw_below(3, rng) if rng.random() < WORDY else 0
    change = _change(other, n_inputs, rng) if rng.random() < CHANGING and n_inputs > 3 else None
    inputs = _careful(topic, change, n_inputs, rng)
    return ChatPlan(topic, opinion, inputs, _telemetry(inputs, worker.manner, rng), n_agains, change)


def _opinion(rng: np.random.Generator) -> str:
    """Return an opinion, drawn with the study's shares."""
    place = int(np.searchsorted(np.cumsum(list(OPINIONS.values())), rng.random(), side="right"))
    return list(OPINIONS)[min(place, len(OPINIONS) - 1)]


def _change(topic: str, n_inputs: int, rng: np.random.Generator) -> Change:
    after = 2 + draw_below(n_inputs - 3, rng)
    return Change(after, _CHANGED_BY[draw_below(len(_CHANGED_BY), rng)], topic, _opinion(rng))


def _careful(topic: str, change: Change | None, n_inputs: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Return inputs about the topic, and after a change about the new one; none twice while there are others.

    Of what a topic has, the first opens it; it belongs to the input that changes the topic, too.
    """
    if change is None:
        return _about(topic, n_inputs, rng, set())
    # Changed “in my last message”: the one before the note is about the new topic already.
    n_before = change.n_inputs - (change.by == "last")
    before = _about(topic, n_before, rng, set())
    return before + _about(change.topic, n_inputs - n_before, rng, set(before))


def _about(topic: str, n_inputs: int, rng: np.random.Generator, said: set[str]) -> tuple[str, ...]:
    opener, *rest = TOPICS[topic]
    others = [text for text in FOLLOW_UPS if text not in said]
    of_topic = [rest[place] for place in shuffled(len(rest), rng)]
    of_any = [others[place] for place in shuffled(len(others), rng)]
    inputs = [opener]
    while of_topic or of_any:
        is_on_topic = rng.random() < _ON_TOPIC
        inputs.append((of_topic if (is_on_topic and of_topic) or not of_any else of_any).pop())
    return tuple(islice(cycle(inputs), n_inputs))


def _careless(manner: Manner, n_inputs: int, rng: np.random.Generator) -> tuple[str, ...]:
    if manner is Manner.RANDOM:
        return tuple(WORDS[draw_below(len(WORDS), rng)] for _ in range(n_inputs))
    return (REPEATED[draw_below(len(REPEATED), rng)],) * n_inputs


def _telemetry(inputs: Sequence[str], manner: Manner, rng: np.random.Generator) -> tuple[Mapping[str, int], ...]:
    """Return plausible telemetry: who writes the same again and again pastes it, others type some letters a second."""
    is_pasted = manner is Manner.HIGH
    counts = []
    for place, text in enumerate(inputs):
        pace_ms = rng.lognormal(math.log(220 if manner is Manner.CAREFUL else 110), 0.3)
        n_pastes = int(is_pasted and place > 0)
        counts.append(
            {
                "typed_ms": round(pace_ms * (3 if n_pastes else len(text))),
                "n_pastes": n_pastes,
                "n_pasted_chars": n_pastes * len(text),
                "n_focus_lost": int(rng.random() < 0.03),
            }
        )
    return tuple(counts)
