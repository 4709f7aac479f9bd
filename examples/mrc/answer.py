"""Six small programs that answer questions from a passage, and the table of what they and a human answered.

    python examples/mrc/answer.py                      # writes outputs.csv beside this file
    python examples/mrc/answer.py --output answers.csv # writes it into another file
    python examples/mrc/answer.py --scores             # prints every system's mean token F1 against the references

A program gets a Task, which holds neither the reference nor the human's answer. All use the standard library only and
answer the same on every run. They are toy baselines: they count shared words and look for patterns.
"""

import argparse
import csv
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PASSAGES, OUTPUTS = HERE / "passages.jsonl", HERE / "outputs.csv"
COLUMNS = ["source", "passage", "question", "reference", "system", "output"]
HUMAN = "human"

MIN_RANDOM_WORDS, MAX_RANDOM_WORDS = 2, 8
WINDOW_WORDS, MAX_ANSWER_WORDS, COMMA_WORDS = 10, 12, 5
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about after all also an and any are around as at be been before but by can could did do does for from had "
        "has have he her his how if in into is it its may most much must no not of on once only or other over she "
        "should since so some than that the their them then there they this to today until usually was were what "
        "when where which while who whose why will with would you your",
    )
)

# --- What kinds of answer look like -----------------------------------------------------------------------------------
NUMBER = (
    r"(?:\d[\d,.]*\d|\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|hundred|half|a (?:third|quarter|fifth)|every \w+)\b)"
)
HEDGE = r"(?:\b(?:about|nearly|almost|roughly|up to|a little|(?:more|less) than) )*"
MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
VERB = r"(?:is|are|was|were|has|have|had|can|could|may|must)"

CLAUSE = re.compile(r"(?:[^,;:.“”]|[,.](?=\d))+")
MEANS = re.compile(r"\b(?:[Bb]y|[Ww]ith|in|under) (?!the [A-Z]|\d|which)[^,;.]+")
NAME = re.compile(r"\b[A-Z][\w'’-]*(?: (?:(?:of|de|von) )?[A-Z][\w'’-]*)*|\bthe \w+ who [^,;.]+")
PLACE = re.compile(rf"\b(?:in|on|at|near|behind|inside|off) (?!which|this|that|order|time|\d|{MONTH})[^,;:.]+")
QUANTITY = re.compile(rf"{HEDGE}{NUMBER}(?: to {NUMBER})?(?: (?!(?:and|at|for|in|of|to|from|{VERB})\b)\w+){{0,3}}")
REASON = re.compile(
    r"\b(?:[Bb]ecause|[Ss]ince|so that) [^,;.]+|\b[Tt]o (?!(?:the|a|an|her|his|its)\b|[A-Z\d])[a-z]+[^,;.]*"
)
TIME = re.compile(
    rf"\b(?:(?:in|on|since|until|by|around|from) )?(?:\d\d? )?(?:{MONTH} )?1\d\d\d\b"
    r"|\b(?:in|since|from) the (?:year \d+|\w+ century)|\bin (?:spring|summer|autumn|winter)\b"
    r"|\b(?:[Ww]hen|At|[Ff]or only) [^,;.]+"
)
KINDS: list[tuple[re.Pattern[str], re.Pattern[str]]] = [
    (re.compile(r"^why\b|^what .* for\?$", re.I), REASON),
    (re.compile(r"^(?:when|since when|in which year)\b", re.I), TIME),
    (re.compile(r"^where\b", re.I), PLACE),
    (re.compile(r"^(?:who|whose)\b|^which (?:country|river)\b", re.I), NAME),
    (re.compile(r"^(?:by )?how (?:many|much|far|long|tall|deep|wide|hot|old|often|strong|salty)\b", re.I), QUANTITY),
    (re.compile(r"^how\b", re.I), MEANS),
]
ASKS_FOR_OBJECT = re.compile(rf"^(?:what|which)(?: \w+)? (?:did|do|does|{VERB})\b", re.I)

# --- Where an answer may be cut short ---------------------------------------------------------------------------------
NEW_VERB = r"and (?:is|was|has|had|can|it|they|he|she|wrote|built|drove|\w+ed|\w+s(?= (?:a|the|as|from)\b))"
CLAUSE_TAIL = re.compile(rf" (?:which|who|whose|where|when|while|but|so|because|{NEW_VERB})\b.*")
PHRASE_TAIL = re.compile(rf" (?:{VERB}|that|by about|more than|which|who|where|while|but|so|because|{NEW_VERB})\b.*")
CLAUSE_LEAD = re.compile(rf"^(?:(?:and|also|as|but|by|he|in|it|of|or|she|so|that|then|usually|which|with|{VERB}) )+")


@dataclass(frozen=True)
class Task:
    """What a program sees: a question's id and words, and the passage that answers it."""

    id: str
    question: str
    passage: str


@dataclass(frozen=True)
class Rarity:
    """How rare a stem is among the passages: 1 + log(passages / passages that have it)."""

    n_passages: int
    n_having: Mapping[str, int]

    def of(self, stem: str) -> float:
        """Return one stem's weight, rounded, so that no platform's last digit decides between two spans."""
        return round(1 + math.log(self.n_passages / max(1, self.n_having.get(stem, 0))), 6)


Program = Callable[[Task, Rarity], str]


# --- Words ------------------------------------------------------------------------------------------------------------
def words_of(text: str) -> list[str]:
    """Return the lower-case words and numbers of a text, without punctuation."""
    return re.findall(r"\d[\d,.]*\d|[^\W_]+(?:-[^\W_]+)*", re.sub(r"['’]s\b", "", text.lower()))


def stem(word: str) -> str:
    """Return a word without one common ending, so that most forms of a regular word become the same.

    >>> stem("tuned"), stem("tunes"), stem("glass")
    ('tun', 'tun', 'glass')
    """
    for ending in ("ing", "ed", "es", "ly", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def content_stems(text: str) -> set[str]:
    """Return the stems of a text's words that are not stop words."""
    return {stem(word) for word in words_of(text) if word not in STOP_WORDS}


def sentences_of(passage: str) -> list[str]:
    """Return the sentences of a passage, in order."""
    return re.split(r"(?<=[.!?]) (?=[A-Z“])", passage)


def overlap(task: Task, text: str, rarity: Rarity) -> float:
    """Return the summed weight of the question's stems that occur in a text."""
    return sum(rarity.of(shared) for shared in sorted(content_stems(task.question) & content_stems(text)))


def tidy(text: str) -> str:
    """Return a span without the punctuation and the conjunctions at its ends."""
    ends = " ,;:.“”"
    return re.sub(r"^(?:and|but|or|so|then) |\s(?:and|or|the|a|an|of|to|in|on|for)$", "", text.strip(ends)).strip(ends)


# --- The programs, from the plainest to the best ----------------------------------------------------------------------
def random_span(task: Task, rarity: Rarity) -> str:
    """Answer with two to eight consecutive words of the passage, drawn with the question's id as the seed."""
    rng = random.Random(task.id)
    words = task.passage.split()
    length = rng.randint(MIN_RANDOM_WORDS, MAX_RANDOM_WORDS)
    start = rng.randrange(len(words) - length + 1)
    return tidy(" ".join(words[start : start + length]))


def first_sentence(task: Task, rarity: Rarity) -> str:
    """Answer with the passage's first sentence, whatever the question."""
    return sentences_of(task.passage)[0]


def best_sentence(task: Task, rarity: Rarity) -> str:
    """Answer with the sentence that shares most with the question, rare words counting more; the first of equals."""
    return max(sentences_of(task.passage), key=lambda sentence: overlap(task, sentence, rarity))


def best_window(task: Task, rarity: Rarity) -> str:
    """Answer with the ten consecutive words of the best sentence that share most with the question."""
    words = best_sentence(task, rarity).split()
    starts = range(max(1, len(words) - WINDOW_WORDS + 1))
    windows = [" ".join(words[start : start + WINDOW_WORDS]) for start in starts]
    return tidy(max(windows, key=lambda window: overlap(task, window, rarity)))


def typed_span(task: Task, rarity: Rarity) -> str:
    """Answer with the best sentence's first span of the kind the question asks for, else its first unasked clause."""
    sentence = best_sentence(task, rarity)
    spans = [match.group() for match in kind_of(task.question).finditer(sentence)]
    asked = content_stems(task.question)
    unasked = [span for span in spans if content_stems(span) - asked] or [sentence]
    return tidy(" ".join(unasked[0].split()[:MAX_ANSWER_WORDS]))


def rules(task: Task, rarity: Rarity) -> str:
    """Answer with the span that fits the question's kind, lies near its words and says something they do not."""
    candidates = [
        (score, answer)
        for sentence in sentences_of(task.passage)
        for start, answer in spans_for(task, sentence)
        if (score := fitness(task, sentence, start, answer, rarity)) is not None
    ]
    if not candidates:
        return best_window(task, rarity)
    return tidy(max(candidates, key=lambda candidate: candidate[0])[1])


PROGRAMS: dict[str, Program] = {
    "random-span": random_span,
    "first-sentence": first_sentence,
    "best-sentence": best_sentence,
    "best-window": best_window,
    "typed-span": typed_span,
    "rules": rules,
}


# --- What `typed-span` and `rules` look for ---------------------------------------------------------------------------
def kind_of(question: str) -> re.Pattern[str]:
    """Return the pattern of the answers that a question asks for: a clause if its first words do not tell."""
    return next((answers for asks, answers in KINDS if asks.search(question)), CLAUSE)


def spans_for(task: Task, sentence: str) -> Iterator[tuple[int, str]]:
    """Yield the spans of a sentence that could answer the question, each with its place in the sentence."""
    kind = kind_of(task.question)
    for match in kind.finditer(sentence):
        if kind is CLAUSE:
            yield from parts_of_clause(task, match)
        elif kind in (PLACE, MEANS):
            yield match.start(), PHRASE_TAIL.sub("", match.group())
        else:
            yield match.start(), match.group()
    if kind is REASON and (cause := re.match(r"(.+), so (?!that)", sentence)):
        yield 0, cause.group(1)


def parts_of_clause(task: Task, clause: re.Match[str]) -> list[tuple[int, str]]:
    """Return the side of a clause where the answer should be: behind the question's words for an object, else before.

    A clause that has nothing there gives what it has elsewhere.
    """
    asked = content_stems(task.question)
    words = [(word.start(), word.group()) for word in re.finditer(r"\S+", clause.group())]
    shared = [k for k, (_, word) in enumerate(words) if content_stems(word) & asked]
    if not shared:
        return [(clause.start(), clause.group())]
    bounds = [(0, shared[0]), (shared[-1] + 1, len(words)), *zip([k + 1 for k in shared], shared[1:], strict=False)]
    if ASKS_FOR_OBJECT.search(task.question):
        bounds[:2] = [bounds[1], bounds[0]]
    for start, stop in bounds:
        text = CLAUSE_TAIL.sub("", " ".join(word for _, word in words[start:stop]))
        part = CLAUSE_LEAD.sub("", text)
        if content_stems(part):
            return [(clause.start() + words[start][0] + len(text) - len(part), part)]
    return []


def fitness(task: Task, sentence: str, start: int, answer: str, rarity: Rarity) -> float | None:
    """Return how well a span answers: the question's words in its sentence, the nearer the better.

    A comma between counts as COMMA_WORDS words. None for a span that says nothing beyond the question.
    """
    asked = content_stems(task.question)
    if not content_stems(answer) - asked:
        return None
    end = start + len(answer)
    nearest: dict[str, int] = {}
    for word in re.finditer(r"\S+", sentence):
        between = sentence[word.end() : start] if word.start() < start else sentence[end : word.start()]
        gap = len(between.split()) + COMMA_WORDS * between.count(",")
        for shared in content_stems(word.group()) & asked:
            nearest[shared] = min(gap, nearest.get(shared, gap))
    return round(sum(rarity.of(shared) * (1 + 1 / (2 + gap)) for shared, gap in sorted(nearest.items())), 6)


# --- The table and the scores -----------------------------------------------------------------------------------------
def read_passages() -> list[dict]:
    """Return the passages with their questions."""
    return [json.loads(line) for line in PASSAGES.read_text(encoding="utf-8").splitlines()]


def answers() -> list[dict[str, str]]:
    """Return the table's rows: every question's answers by the six programs and the human."""
    passages = read_passages()
    n_having = Counter(each for passage in passages for each in content_stems(passage["passage"]))
    rarity = Rarity(len(passages), n_having)
    rows = []
    for passage in passages:
        for question in passage["questions"]:
            task = Task(question["id"], question["question"], passage["passage"])
            outputs = {name: program(task, rarity) for name, program in PROGRAMS.items()} | {HUMAN: question["human"]}
            fixed = [task.id, task.passage, task.question, question["reference"]]
            rows += [dict(zip(COLUMNS, [*fixed, name, output], strict=True)) for name, output in outputs.items()]
    return rows


def token_f1(output: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall of an output's words, articles left out, as SQuAD does.

    >>> token_f1("the deep blue sea", "a blue sea")
    0.8
    """
    said, expected = (Counter(w for w in words_of(text) if w not in {"a", "an", "the"}) for text in (output, reference))
    return 2 * (said & expected).total() / max(1, said.total() + expected.total())


def mean_scores(rows: list[dict[str, str]]) -> dict[str, float]:
    """Return every system's mean token F1 against the references, best first."""
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["system"], []).append(token_f1(row["output"], row["reference"]))
    means = {name: sum(values) / len(values) for name, values in scores.items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def main() -> None:
    """Write the table, or print the scores."""
    parser = argparse.ArgumentParser(description="Answer the example questions with six toy programs.")
    parser.add_argument("--output", type=Path, default=OUTPUTS, help="where to write the table (default: %(default)s)")
    parser.add_argument("--scores", action="store_true", help="print each system's mean token F1; write nothing")
    options, rows = parser.parse_args(), answers()
    if options.scores:
        for name, score in mean_scores(rows).items():
            sys.stdout.write(f"{name:<16}{score:.3f}\n")
        return
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
