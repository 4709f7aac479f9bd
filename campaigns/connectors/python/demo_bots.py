"""Three chatbots to try a campaign with, of visibly different quality: in English, in this process, without network.

They are toys: a file of dialogues, a few subjects and a few phrases. `Attentive` keeps to the topic, asks back and
remembers what it was told; `Plain` says what somebody once said in answer to something similar; `Forgetful` says much
the same whatever it is told. Each answers the same chat with the same seed in the same way.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from campaigns.connectors.python.small_talk import (
    FAVOURITES,
    SUBJECTS,
    as_continued,
    as_topic,
    key_words,
    likings,
    subjects_of,
    turned,
)
from campaigns.connectors.retrieval.index import index_of
from campaigns.connectors.retrieval.ranking import Weights, choose_reply, score_replies
from campaigns.contracts.chat import Utterance
from campaigns.design.seeds import draw_below, generator

DIALOGUES = Path(__file__).resolve().parents[3] / "examples" / "dialogue" / "dialogues.jsonl"

_NO_LIMIT = 1_000_000
_LIKE_ENOUGH = 0.28
_PERSONA_EVERY, _RECALL_EVERY = 3, 5
_FEWEST_WORDS, _MOST_WORDS, _MOST_ECHOED = 4, 25, 14

_GREETING = re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b", re.I)
_GOODBYE = re.compile(
    r"\b(?:bye|goodbye|good night|nice (?:talking|chatting)|have to go|got to go|should go|gotta go|back to work)\b",
    re.I,
)
_HOW_ARE_YOU = re.compile(r"\bhow (?:are|is it going|have) you?\b|\bhow's it going\b", re.I)
_REMEMBER = re.compile(r"\bremember\b|\bwhat (?:did|have) i (?:say|said|tell|told)\b|\bi told you\b", re.I)
_DO_YOU_LIKE = re.compile(r"\bdo you (?:also |really )?(?:like|love|enjoy) ([^?.!,]+)\?", re.I)
_HAVE_YOU = re.compile(
    r"\bhave you (?:ever |already )?(been|seen|read|tried|heard|played|done|had|watched|visited)\b", re.I
)
_NOT_YET = {
    "been": "been there",
    "seen": "seen much of that",
    "read": "read that",
    "done": "done that",
    "had": "had that",
}
_DO_YOU_HAVE = re.compile(r"\b(?:do you have|have you got) (?:a|an|any|some)\b", re.I)
_WHY = re.compile(r"^why\b", re.I)
_FAVOURITE = re.compile(r"\bfavou?rite\b|\bdo you prefer\b|\bwhat (?:kind|sort|type)s? of\b", re.I)
_FREE_TIME = re.compile(r"\bfor fun\b|\bhobb(?:y|ies)\b|\b(?:free|spare) time\b|\btell me about yourself\b", re.I)
_WHO = re.compile(r"\b(?:are you|is this) (?:a |an )?(?:\w+ )?(?:bot|robot|computer|human|person|machine|real)\b", re.I)
_DISLIKE = re.compile(
    r"\bi (?:do not|don't|don’t|never) (?:really )?(?:like|enjoy|love) ([^.,;!?]+)|\bi hate ([^.,;!?]+)", re.I
)
_SAD = re.compile(r"\b(?:tired|sad|ill|sick|lonely|lost|died|stressed|bored|worried|afraid|broke|hurt|hate)\b", re.I)
_OF_ONESELF = re.compile(r"^(?:i|my|we|our)\b", re.I)
_ABOUT_THE_OTHER = re.compile(r"\byou\b|\byour\b", re.I)
_UNFIT = re.compile(
    r"^(?:yes|yeah|yep|no|nope|same|me too|both|oh|haha)\b|\b(?:my|i have|i've|she|he|her|his|haha)\b", re.I
)

_QUESTIONS = (
    "What do you like best about {}?",
    "How did you come to like {}?",
    "Is there anything about {} that you do not like?",
    "Who do you talk to about {}?",
    "What would you tell somebody who knows nothing about {}?",
    "When did {} last make you smile?",
)
_DELIGHT = (
    "I can see why you like {}.",
    "Oh, {}! I could talk about that for hours.",
    "Good choice: {} never gets old.",
)
_ECHO = (
    "So {}. Thank you for telling me.",
    "Ah, {}. That is good to know.",
    "Oh nice, so {}!",
    "I see, {}. Good to know.",
)
_EVASIONS = (
    "That is a good question. I would have to think about it.",
    "I am not sure what I would say to that.",
    "Hm, that is hard to say.",
    "Nobody has asked me that before.",
)
_LISTENING = (
    "I see what you mean.",
    "That makes sense.",
    "Right, I can imagine that.",
    "I see.",
    "I understand.",
    "Fair enough!",
)


class Attentive:
    """Keeps to the topic, asks back, lives up to its persona and remembers what it was told."""

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        """Return the next turn."""
        chat = _Chat(turns, persona, topic, seed)
        answer = next((text for text in self._answers(chat) if not chat.has_said(text)), "Tell me more about it.")
        if _GOODBYE.search(chat.last):
            return answer
        if "?" not in answer:
            further = next((text for text in self._further(chat, answer) if not chat.has_said(text)), "")
            answer = f"{answer} {further}".strip()
        return answer

    def _answers(self, chat: "_Chat") -> Iterator[str]:
        """Yield what may be answered to the last input, the most fitting first."""
        yield from self._conventions(chat)
        if chat.question:
            yield from self._about_itself(chat)
            yield from chat.found_replies()
            yield from chat.in_any_order(_EVASIONS)
        elif len(key_words(chat.last)) == 0:
            yield from chat.recollections()
        else:
            yield from self._about_the_worker(chat)
        yield from chat.recollections()
        yield from chat.in_any_order(_LISTENING)

    def _conventions(self, chat: "_Chat") -> Iterator[str]:
        """Yield what is said at the beginning and the end, and when somebody asks who is there."""
        if _GOODBYE.search(chat.last):
            liked = chat.liked()
            yield f"It was nice talking to you, and hearing about {liked or chat.topic}. Take care!"
        if _REMEMBER.search(chat.last):
            told = chat.told_about(chat.last)
            yield f"Of course I remember: you said that {told}." if told else "You have not told me yet. Tell me now!"
        if _WHO.search(chat.last):
            yield "I am a chatbot, you have me there. I would rather hear about you."
        if len(chat.inputs) == 1:
            hello = "Hi! " if _GREETING.match(chat.last) else ""
            if _HOW_ARE_YOU.search(chat.last):
                hello += "I am well, thank you. "
            if not chat.question or hello:
                what = f"that you want to talk about {chat.topic}" if chat.has_topic else "to meet you"
                yield f"{hello}I am glad {what}."
        if _HOW_ARE_YOU.search(chat.last):
            yield "I am very well, thank you. And you?"
        elif _GREETING.match(chat.last):
            yield f"Hello! I am happy to go on{f' about {chat.topic}' if chat.has_topic else ''}."

    def _about_itself(self, chat: "_Chat") -> Iterator[str]:
        """Yield answers to a question, of its persona where one fits."""
        is_of_taste = bool(_FAVOURITE.search(chat.question) or _HAVE_YOU.search(chat.question))
        asked = chat.question if key_words(chat.question) else f"{chat.question} {chat.topic}"
        if (statement := chat.fitting_statement(asked)) and _ABOUT_THE_OTHER.search(asked):
            if not chat.has_said(statement):
                yield statement
            elif not is_of_taste:
                yield f"As I said, {as_continued(statement)}"
        if match := _DO_YOU_LIKE.search(chat.question):
            yield f"I do like {turned(match[1].strip())}, yes."
        if match := _HAVE_YOU.search(chat.question):
            yield f"I have not {_NOT_YET.get(match[1].lower(), match[1].lower())} yet, but I would like to."
        if _DO_YOU_HAVE.search(chat.question):
            yield "Not at the moment, but it would be nice."
        if _WHY.search(chat.question):
            yield "I suppose that is just how I am."
        if _FAVOURITE.search(chat.question):
            yield from (FAVOURITES[name] for name in (*subjects_of(chat.question), *chat.subjects))
        if _FREE_TIME.search(chat.question):
            yield from (each for each in chat.persona if not chat.has_said(each))
            yield FAVOURITES["free time"]

    def _about_the_worker(self, chat: "_Chat") -> Iterator[str]:
        """Yield what shows that an input was heard."""
        if match := _DISLIKE.search(chat.last):
            yield f"Fair enough, not everybody likes {turned((match[1] or match[2]).strip())}."
        yield from (chat.drawn(_DELIGHT).format(liked) for liked in likings(chat.last))
        if chat.told and _SAD.search(chat.told):
            yield f"I am sorry to hear that {chat.told}."
        yield from chat.found_replies()
        if chat.told:
            yield chat.drawn(_ECHO).format(chat.told)

    def _further(self, chat: "_Chat", answer: str) -> Iterator[str]:
        """Yield what may follow an answer: a statement of the persona now and then, else a question."""
        n_inputs = len(chat.inputs)
        is_due = n_inputs % _PERSONA_EVERY == 0 and answer not in chat.persona
        if is_due and (statement := chat.fresh_statement(chat.last)):
            yield f"By the way, {as_continued(statement)}"
        if n_inputs % _RECALL_EVERY == 0:
            yield from chat.recollections()
        for name in chat.subjects:
            yield from chat.in_any_order(SUBJECTS[name].questions)
        yield from (question.format(chat.topic) for question in _QUESTIONS)


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
    """A chat as `Attentive` sees it."""

    def __init__(self, turns: Sequence[Utterance], persona: Sequence[str], topic: str, seed: int) -> None:
        self._turns, self._rng = turns, generator(seed, len(turns))
        self.inputs = [turn.text for turn in turns if turn.by == "worker"]
        self._said = [turn.text.casefold() for turn in turns if turn.by == "chatbot"]
        self.last = self.inputs[-1]
        self.persona = list(persona)
        self._whole_topic = topic
        sentences = re.findall(r"[^.!?]+[.!?]*", self.last)
        self.question = next((each.strip() for each in reversed(sentences) if each.rstrip().endswith("?")), "")
        if not self.question and _FREE_TIME.search(self.last):
            self.question = self.last
        self.told = next((_told(each) for each in sentences if _told(each)), "")
        # What is spoken of now, then what the chat is about
        self.subjects = list(
            dict.fromkeys([*subjects_of(self.last), *subjects_of(topic), *subjects_of(" ".join(self.inputs))])
        )
        # Without a topic it is what the worker likes or speaks of.
        found = as_topic(topic) if topic else self.liked() or next(iter(self.subjects), "")
        self.has_topic, self.topic = bool(found), found or "that"

    def has_said(self, text: str) -> bool:
        """Whether the chatbot said this before, alone or with something else."""
        return any(text.casefold() in said for said in self._said)

    def drawn(self, phrases: Sequence[str]) -> str:
        """Return one of the phrases."""
        return phrases[draw_below(len(phrases), self._rng)]

    def in_any_order(self, phrases: Sequence[str]) -> list[str]:
        """Return the phrases, shuffled."""
        return [phrases[place] for place in np.argsort(self._rng.random(len(phrases)), kind="stable")]

    def liked(self) -> str:
        """Return what the worker said last that they like; "" if nothing."""
        found = [liked for text in self.inputs for liked in likings(text)]
        return found[-1] if found else ""

    def told_about(self, question: str) -> str:
        """Return what the worker told that has most words with a question, else what they told last; "" if nothing."""
        asked = set(key_words(question))
        told = [
            told for text in self.inputs[:-1] for each in re.findall(r"[^.!?]+[.!?]*", text) if (told := _told(each))
        ]
        return max(reversed(told), key=lambda each: len(asked & set(key_words(each))), default="")

    def recollections(self) -> Iterator[str]:
        """Yield questions about what the worker told some time ago."""
        for text in self.inputs[:-2]:
            for liked in likings(text):
                yield f"You said that you like {liked}. What is it about {liked} that you like?"

    def fitting_statement(self, text: str) -> str:
        """Return the statement of the persona that speaks of the same as a text; "" if none does."""
        best = max(self.persona, key=lambda each: _kinship(text, each), default="")
        return best if best and _kinship(text, best) else ""

    def fresh_statement(self, text: str) -> str:
        """Return a statement of the persona not made yet, one that speaks of the same as a text before others."""
        fresh = [each for each in self.persona if not self.has_said(each) and each.strip() != self._whole_topic.strip()]
        return max(fresh, key=lambda each: _kinship(text, each), default="")

    def found_replies(self) -> Iterator[str]:
        """Yield replies of the file of dialogues that speak of the same as the last input."""
        index = index_of(DIALOGUES)
        scores = score_replies(index, self._turns, topic=self._whole_topic, persona=self.persona, weights=Weights())
        words = set(key_words(self.last))
        for place in np.argsort(-np.round(scores, 4), kind="stable")[:20]:
            text = index.texts[place + 1] if scores[place] >= _LIKE_ENOUGH else ""
            is_fit = _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS and not _UNFIT.search(text)
            if is_fit and words & set(key_words(text)):
                yield text if text[-1] in ".!?" else f"{text}."


def _kinship(text: str, other: str) -> int:
    """Return how much two texts have in common: words, and subjects."""
    n_words = len(set(key_words(text)) & set(key_words(other)))
    return 2 * n_words + len(set(subjects_of(text)) & set(subjects_of(other)))


def _told(sentence: str) -> str:
    """Return a short statement that somebody makes of themselves as it is said to them; "" for any other sentence."""
    bare = sentence.strip(" .!").split(",")[0]
    is_told = _OF_ONESELF.match(bare) and "?" not in sentence and not _ABOUT_THE_OTHER.search(bare)
    return turned(bare) if is_told and _FEWEST_WORDS <= len(bare.split()) <= _MOST_ECHOED else ""
