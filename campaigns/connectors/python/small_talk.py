"""What the demo chatbots know of English: subjects people chat about, what to ask of them, and whose “my” is whose."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """Something to chat about: the words that name it, and questions to ask of it."""

    words: frozenset[str]
    questions: tuple[str, ...]


def _subject(words: str, *questions: str) -> Subject:
    return Subject(frozenset(words.split()), questions)


SUBJECTS = {
    "food": _subject(
        "food cook cooking cooked bake baking baked bakery bread cake eat eating meal meals dinner lunch breakfast "
        "dish dishes recipe recipes pasta pizza chocolate cheese restaurant restaurants taste tasty soup coffee tea",
        "What is the best thing you have ever cooked?",
        "Do you follow recipes, or do you make it up as you go?",
        "What is your favourite comfort food?",
        "Who taught you to cook?",
    ),
    "films": _subject(
        "film films movie movies cinema actor actors netflix series show shows watch watching watched tv television",
        "Which film could you watch again and again?",
        "Do you prefer the cinema or the sofa at home?",
        "Do you like it when a film makes you cry?",
        "Who is your favourite actor?",
    ),
    "music": _subject(
        "music song songs band bands concert concerts guitar piano violin drums sing singing singer album listen",
        "Which song do you never get tired of?",
        "Do you play an instrument yourself?",
        "What was the best concert you have been to?",
        "Do you listen to music while you work?",
    ),
    "books": _subject(
        "book books read reading novel novels author authors story stories library writer",
        "Which book would you give to a friend?",
        "Where do you like to read best?",
        "Do you finish books that you do not like?",
        "What are you reading at the moment?",
    ),
    "travel": _subject(
        "travel traveling travelling trip trips country countries holiday holidays vacation abroad flight beach sea "
        "italy france spain europe japan london paris city cities visit visited",
        "What was the best trip you have ever made?",
        "Do you plan everything, or do you just go?",
        "Where would you like to go next?",
        "Do you like to travel alone or with others?",
    ),
    "animals": _subject(
        "animal animals pet pets dog dogs puppy cat cats kitten horse horses bird birds fish rabbit",
        "What is the funniest thing an animal ever did to you?",
        "Are you more of a dog person or a cat person?",
        "Did you have pets as a child?",
        "Which animal would you keep if you could keep any?",
    ),
    "sport": _subject(
        "sport sports football soccer basketball tennis swim swimming run running marathon gym team match training "
        "cycling bike climbing ski skiing",
        "Do you prefer to play or to watch?",
        "How often do you find time for it?",
        "Did you do a lot of sport at school?",
        "Is there a team that you follow?",
    ),
    "outdoors": _subject(
        "hike hikes hiking mountain mountains walk walks walking forest nature garden gardening camping lake river "
        "outdoors outside park",
        "What is the most beautiful place you have walked to?",
        "Do you prefer the mountains or the sea?",
        "Do you go out when it rains?",
        "Who goes with you?",
    ),
    "games": _subject(
        "games gaming chess cards puzzle puzzles nintendo minecraft xbox playstation",
        "Which game did you play most as a child?",
        "Do you mind losing?",
        "Do you prefer to play alone or with friends?",
    ),
    "family": _subject(
        "family sister sisters brother brothers mother mum mom father dad parents grandmother grandma grandfather "
        "children kids son daughter",
        "Do you see your family often?",
        "Are you the eldest, the youngest, or in the middle?",
        "What do you like to do together?",
    ),
    "work": _subject(
        "work working job jobs office study studying school university student teacher living career profession",
        "What does a good day at work look like?",
        "What did you want to be as a child?",
        "What would you do if you did not have to work?",
    ),
    "weather": _subject(
        "weather rain raining rainy snow sunny sun summer winter spring autumn cold hot warm",
        "Which season do you like best?",
        "Does the weather change your mood?",
        "What do you do on a rainy day?",
    ),
    "free time": _subject(
        "fun hobby hobbies weekend weekends spare relax plans",
        "What would your perfect weekend be?",
        "Is there a hobby that you always wanted to try?",
        "Do you get enough time for yourself?",
    ),
}

FAVOURITES = {
    "food": "Give me a bowl of vegetable soup and fresh bread and I am happy.",
    "films": "I like quiet films best, with good dialogue and a happy end.",
    "music": "I listen to anything with a piano in it.",
    "books": "I like detective stories, because I never guess who did it.",
    "travel": "I like small towns by the sea better than big cities.",
    "animals": "I am fond of dogs: they are always glad to see you.",
    "sport": "I like swimming best, though I am slow.",
    "outdoors": "A path through a forest in the morning, that is my favourite.",
    "games": "I like board games, the long ones that take all evening.",
    "family": "I think that the best days are those with a long family lunch.",
    "work": "I like work that I can finish and look at afterwards.",
    "weather": "I like autumn best, with cold air and red leaves.",
    "free time": "I like slow mornings, a long walk, and somebody to talk to.",
}

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")

STOP_WORDS = frozenset(
    _WORD.findall(
        "a about actually all also always am an and any anything are as at be because been but by can could did do "
        "does done for from get go going good got great had has have he her his how i if in into is it its just "
        "kind know like liked likes lot love loved loves made make many maybe me mean more most much my never nice "
        "no not of often on one only or other our out over quite really she should since so some something "
        "sometimes sounds still talk talking tell than that the their them then there they thing things think this "
        "time to too up usually very want was we well were what when where which who why will with would yes you "
        "your yours enjoy favourite favorite today yet ever ago hello hey don doesn didn isn thank thanks bye sure "
        "okay last first best again here way bit i'd i'm i've don't it's that's what's "
        "cool haha wow fine awesome mostly used every yeah yep nope not"
    )
)

_TURNED = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "i'm": "you're",
    "i've": "you've", "i'd": "you'd", "i'll": "you'll", "we": "you", "us": "you", "our": "your", "ours": "yours",
    "we're": "you're", "we've": "you've", "we'd": "you'd", "we'll": "you'll", "ourselves": "yourselves",
}  # fmt: skip
_TURNED_WORD = re.compile(r"\bI was\b|\b[A-Za-z]+(?:'[A-Za-z]+)?\b")
_LIKING = re.compile(
    r"\bi (?:really |also |do |just )*(?:love|like|enjoy)d? (?!(?:to know|your?|that|it|this|them)\b)([^.,;:!?]+)",
    re.I,
)
_END_OF_PHRASE = re.compile(r"\s+(?:and|but|because|so|when|if|since|although|more than|too|as well|a lot)\b.*", re.I)
_WISH = re.compile(r"^(?:i(?:'d| would)? (?:really )?(?:like|love)(?: to talk about)?|let's talk about)\s+", re.I)
_LONGEST_PHRASE, _LONGEST_TOPIC, _SHORTEST_KEY_WORD = 6, 3, 3


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return _WORD.findall(text.lower().replace("’", "'"))


def key_words(text: str) -> list[str]:
    """Return the words that say what a text is about, in order."""
    return [word for word in words_of(text) if word not in STOP_WORDS and len(word) >= _SHORTEST_KEY_WORD]


def subjects_of(text: str) -> list[str]:
    """Return the names of the subjects that a text speaks of, the one with most words first."""
    words = words_of(text)
    counts = {name: sum(word in subject.words for word in words) for name, subject in SUBJECTS.items()}
    return sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])


def turned(text: str) -> str:
    """Return what somebody said of themselves as it is said to them: “my dog” as “your dog”."""

    def turn(match: re.Match[str]) -> str:
        word = match[0].replace("’", "'")
        return "you were" if word == "I was" else _TURNED.get(word.lower(), match[0])

    return _TURNED_WORD.sub(turn, text.replace("’", "'"))


def likings(text: str) -> list[str]:
    """Return what somebody says they like, as it is said to them."""
    phrases = (_END_OF_PHRASE.sub("", found.strip()) for found in _LIKING.findall(text))
    return [turned(phrase) for phrase in phrases if 0 < len(phrase.split()) <= _LONGEST_PHRASE]


def as_topic(topic: str) -> str:
    """Return a topic as it stands in a sentence: a few words as they are, else the subject that it speaks of."""
    bare = turned(_WISH.sub("", topic).strip(" .!?,"))
    if 0 < len(bare.split()) <= _LONGEST_TOPIC:
        return as_continued(bare)
    return next(iter(subjects_of(topic)), "that")


def as_continued(sentence: str) -> str:
    """Return a sentence as it stands after a comma."""
    is_capital = re.match(r"I\b", sentence) or sentence[1:2].isupper()
    return sentence if is_capital else sentence[:1].lower() + sentence[1:]
