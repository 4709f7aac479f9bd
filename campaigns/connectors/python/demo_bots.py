"""Three chatbots to try a campaign with, of visibly different quality: in English, in this process, without network.

They are toys: a file of dialogues and a few phrases. `Attentive` keeps to the topic, asks back and remembers what the
worker has said; `Plain` says what somebody once said in answer to something similar; `Forgetful` says much the same to
everything. Each answers the same chat with the same seed in the same way.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from campaigns.connectors.retrieval.index import index_of
from campaigns.connectors.retrieval.ranking import Weights, choose_reply, score_replies
from campaigns.contracts.chat import Utterance
from campaigns.design.seeds import draw_below, generator
from evalsite.lib.folders import SITE_FILES

DIALOGUES = SITE_FILES / "examples" / "dialogue" / "dialogues.jsonl"

_NO_LIMIT = 1_000_000
_LIKE_ENOUGH, _BEST = 0.28, 20
_PERSONA_EVERY, _RECALL_EVERY = 3, 5
_FEWEST_WORDS, _MOST_WORDS, _LONGEST_PHRASE, _LONGEST_TOPIC = 4, 15, 6, 4

_GREETING = re.compile(r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b", re.I)
_GOODBYE = re.compile(r"\b(?:bye|goodbye|good night|nice (?:talking|chatting)|(?:have|got) to go)\b", re.I)
_HOW_ARE_YOU = re.compile(r"\bhow (?:are you|is it going)\b|\bhow's it going\b", re.I)
_REMEMBER = re.compile(r"\bremember\b|\bi told you\b", re.I)
_WHO = re.compile(r"\b(?:are you|is this) (?:a |an )?(?:\w+ )?(?:bot|chatbot|robot|computer|human|person|real)\b", re.I)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_OF_ONESELF, _OF_THE_OTHER = re.compile(r"(?:i|my|we|our)\b", re.I), re.compile(r"\byour?\b", re.I)
_UNFIT = re.compile(r"(?:yes|yeah|no|nope|same|me too|oh|haha)\b|.*\b(?:my|she|he|her|his)\b", re.I)
_WISH = re.compile(r"(?:i(?:'d| would)? (?:like|love)(?: to talk about)?|let's talk about)\s+", re.I)
_LIKING = re.compile(
    r"\bi (?:really |also |do )*(?:love|like|enjoy) (?!(?:to know|your?|that|it|this|them)\b)([^.,;:!?]+)", re.I
)
_END_OF_PHRASE = re.compile(r"\s+(?:and|but|because|so|when|if|too|as well|a lot)\b.*", re.I)

# Words that speak of the same thing, and words that speak of none.
_SUBJECTS = (
    "cook cooking bake baking bakery bread cake dinner food meal meals eat recipe restaurant",
    "pet pets animal animals dog dogs cat cats horse horses",
    "music song songs band concert guitar piano sing",
    "film films movie movies cinema book books read reading series",
    "travel trip holiday walk walks hike hiking beach mountains sport football soccer running",
    "hobby hobbies weekend evening guitar",
)
_SUBJECT_OF = {word: number for number, words in enumerate(_SUBJECTS) for word in words.split()}
_NO_SUBJECTS = """
about also been best does ever from have just know like love made make more most much really some tell than that
their them then there they thing think this time told very want well were what when where which will with would your
you're
""".split()  # noqa: SIM905
_TURNED = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "i'm": "you're",
    "i've": "you've", "we": "you", "us": "you", "our": "your", "ours": "yours", "we're": "you're", "we've": "you've",
}  # fmt: skip

_QUESTIONS = (
    "What do you like best about {}?",
    "How did you come to like {}?",
    "Is there anything about {} that you do not like?",
    "Who do you talk to about {}?",
    "What would you tell somebody who knows nothing about {}?",
    "When did {} last make you smile?",
    "How often do you find time for {}?",
    "Did you like {} as a child?",
)
_DELIGHT = ("I can see why you like {}.", "Oh, {}! I could talk about that for hours.", "Good choice, {}.")
_ECHO = ("So {}. Thank you for telling me.", "Oh nice, so {}!", "I see, {}. Good to know.")
_EVASIONS = ("I would have to think about it.", "Hm, that is hard to say.", "Nobody has asked me that before.")
_LISTENING = (
    *("I see what you mean.", "That makes sense.", "Right, I can imagine that.", "I understand."),
    *("Fair enough!", "That is interesting.", "Good to hear.", "Oh, really."),
)


class Attentive:
    """Keeps to the topic, asks back, lives up to its persona and remembers what the worker has said."""

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        """Return the next turn."""
        chat = _Chat(turns, persona, topic, seed)
        answer = chat.first_unsaid(self._answers(chat)) or "Tell me more about it."
        if "?" in answer or _GOODBYE.search(chat.last):
            return answer
        return f"{answer} {chat.first_unsaid(self._further(chat))}".strip()

    def _answers(self, chat: "_Chat") -> Iterator[str]:
        """Yield what may be answered to the last input, the most fitting first."""
        last, about = chat.last, f" about {chat.topic}" if chat.topic else ""
        is_greeted, is_question = bool(_GREETING.match(last)), "?" in last
        if _GOODBYE.search(last):
            yield f"It was nice talking to you{about}. Take care!"
        if _REMEMBER.search(last):
            said = chat.said_about(last)
            yield f"Of course I remember: you said that {said}." if said else "You have not told me yet. Tell me now!"
        if _WHO.search(last):
            yield "I am a chatbot, you have me there. I would rather hear about you."
        if len(chat.inputs) == 1 and (is_greeted or not is_question):
            yield f"{'Hi! ' * is_greeted}I am glad {f'that you want to talk{about}' if about else 'to meet you'}."
        if _HOW_ARE_YOU.search(last):
            yield "I am very well, thank you. And you?"
        elif is_greeted:
            yield f"Hello! I am happy to go on{about}."
        if is_question:
            if _OF_THE_OTHER.search(last) and (statement := chat.statement_on(last)):
                yield statement
                yield f"As I said, {as_continued(statement)}"
            yield from chat.found_replies()
            yield from chat.in_any_order(_EVASIONS)
        yield from (chat.drawn(_DELIGHT).format(liked) for liked in likings(last))
        yield from (chat.drawn(_ECHO).format(said) for said in _said_in(last)[:1])
        yield from chat.found_replies()
        yield from chat.in_any_order(_LISTENING)

    def _further(self, chat: "_Chat") -> Iterator[str]:
        """Yield what may follow an answer: a statement of the persona now and then, else a question."""
        if len(chat.inputs) % _PERSONA_EVERY == 0:
            yield from (f"By the way, {as_continued(each)}" for each in chat.persona if not chat.has_said(each))
        if len(chat.inputs) % _RECALL_EVERY == 0:
            for liked in (liked for text in chat.inputs[:-2] for liked in likings(text)):
                yield f"You said that you like {liked}. What is it about {liked} that you like?"
        yield from (question.format(chat.topic or "that") for question in _QUESTIONS)


class Plain:
    """Says what somebody once said in answer to something similar, and knows nothing of topic, persona and chat."""

    def __init__(self, *, n_candidates: int = 3) -> None:
        self._n_candidates = max(n_candidates, 1)

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        """Return the next turn."""
        index = index_of(DIALOGUES)
        scores = score_replies(index, turns[-1:], weights=Weights(reply=0.0))
        return choose_reply(
            index, scores, turns[-1:], n_candidates=self._n_candidates, seed=seed + len(turns), max_chars=_NO_LIMIT
        )


class Forgetful:
    """Says one of a few phrases, starts over again and again, and now and then says something of something else."""

    _PHRASES = ("That's cool.", "Oh okay.", "I don't know.", "Sounds good.", "That's cool, I guess.")
    _OPENINGS = ("Hello! How are you?", "So what do you want to talk about?", "Hi, what's up?")
    _N_KINDS = 10

    def __init__(self, *, n_phrases: int = 4) -> None:
        self._phrases = self._PHRASES[: max(n_phrases, 1)]

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        """Return the next turn."""
        rng = generator(seed, len(turns))
        kind = draw_below(self._N_KINDS, rng)
        if len(turns) == 1 or kind == 0:
            return self._OPENINGS[draw_below(len(self._OPENINGS), rng)]
        if kind == 1:
            texts = index_of(DIALOGUES).texts
            return texts[draw_below(len(texts), rng)]
        return self._phrases[draw_below(len(self._phrases), rng)]


class _Chat:
    """A chat as `Attentive` sees it. `topic` is what it is about, as in a sentence; "" if that is not known."""

    def __init__(self, turns: Sequence[Utterance], persona: Sequence[str], topic: str, seed: int) -> None:
        self._turns, self._rng, self._whole_topic = turns, generator(seed, len(turns)), topic
        self._said = [turn.text.casefold() for turn in turns if turn.by == "chatbot"]
        self.inputs = [turn.text for turn in turns if turn.by == "worker"]
        self.last = self.inputs[-1]
        self.persona = [each for each in persona if each.strip() != topic.strip()]
        liked = [liked for text in self.inputs for liked in likings(text)]
        self.topic = as_topic(topic) or (liked[-1] if liked else "")

    def has_said(self, text: str) -> bool:
        """Whether the chatbot said this before, alone or with something else."""
        return any(text.casefold() in said for said in self._said)

    def first_unsaid(self, texts: Iterable[str]) -> str:
        """Return the first of the texts that the chatbot has not said yet; "" if it has said all."""
        return next((text for text in texts if not self.has_said(text)), "")

    def drawn(self, phrases: Sequence[str]) -> str:
        """Return one of the phrases."""
        return phrases[draw_below(len(phrases), self._rng)]

    def in_any_order(self, phrases: Sequence[str]) -> list[str]:
        """Return the phrases, shuffled."""
        return [phrases[place] for place in np.argsort(self._rng.random(len(phrases)), kind="stable")]

    def said_about(self, question: str) -> str:
        """Return the statement of the worker that has most words with a question, else the last one; "" if none."""
        said = [each for text in self.inputs[:-1] for each in _said_in(text)]
        return max(reversed(said), key=lambda each: len(key_words(question) & key_words(each)), default="")

    def statement_on(self, text: str) -> str:
        """Return the statement of the persona that speaks of the same as a text; "" if none does."""
        best = max(self.persona, key=lambda each: _kinship(text, each), default="")
        return best if _kinship(text, best) else ""

    def found_replies(self) -> Iterator[str]:
        """Yield replies of the file of dialogues that speak of the same as the last input."""
        index, words = index_of(DIALOGUES), key_words(self.last)
        scores = score_replies(index, self._turns, topic=self._whole_topic, persona=self.persona, weights=Weights())
        for place in np.argsort(-np.round(scores, 4), kind="stable")[:_BEST]:
            text = index.texts[place + 1] if scores[place] >= _LIKE_ENOUGH else ""
            if _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS and words & key_words(text) and not _UNFIT.match(text):
                yield text if text[-1] in ".!?" else f"{text}."


def key_words(text: str) -> set[str]:
    """Return the words that say what a text is about, in small letters."""
    words = re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("’", "'"))
    return {word for word in words if word in _SUBJECT_OF or (len(word) >= 4 and word not in _NO_SUBJECTS)}


def _kinship(text: str, other: str) -> int:
    """Return how much two texts have in common: words, and subjects."""
    words, others = key_words(text), key_words(other)
    subjects = ({_SUBJECT_OF[word] for word in each if word in _SUBJECT_OF} for each in (words, others))
    return 2 * len(words & others) + len(set.intersection(*subjects))


def _said_in(text: str) -> list[str]:
    """Return the short statements that somebody makes of themselves in a text, as they are said to them."""
    bare = (each.strip(" .!").split(",")[0] for each in _SENTENCE.findall(text) if "?" not in each)
    return [
        turned(each)
        for each in bare
        if _OF_ONESELF.match(each)
        and not _OF_THE_OTHER.search(each)
        and _FEWEST_WORDS <= len(each.split()) <= _MOST_WORDS
    ]


def turned(text: str) -> str:
    """Return what somebody said of themselves as it is said to them: “my dog” as “your dog”."""
    text = re.sub(r"\bI was\b", "you were", text.replace("’", "'"))
    return re.sub(r"[A-Za-z]+(?:'[A-Za-z]+)?", lambda word: _TURNED.get(word[0].lower(), word[0]), text)


def likings(text: str) -> list[str]:
    """Return what somebody says they like, as it is said to them."""
    phrases = (_END_OF_PHRASE.sub("", found.strip()) for found in _LIKING.findall(text))
    return [turned(phrase) for phrase in phrases if 0 < len(phrase.split()) <= _LONGEST_PHRASE]


def as_topic(topic: str) -> str:
    """Return a topic as it is written in a sentence; "" for one that is a sentence itself, or long."""
    bare = _WISH.sub("", topic, count=1).strip(" .!?,")
    is_phrase = not re.match(r"(?:i|we)\b", bare, re.I) and len(bare.split()) <= _LONGEST_TOPIC
    return as_continued(turned(bare)) if is_phrase else ""


def as_continued(sentence: str) -> str:
    """Return a sentence as it is written after a comma."""
    is_capital = re.match(r"I\b", sentence) or sentence[1:2].isupper()
    return sentence if is_capital else sentence[:1].lower() + sentence[1:]
