"""The chats of a study as one JSON document: of workers who passed, who failed, and of all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.dialogues.rows import NO, OPINIONS, YES, Chat, LoadedDialogues
from analysis.data.dialogues.topics import count_topics, count_words, most_common
from analysis.stats.dialogues import Dialogues, DialogueSummary, Inputs, Quartiles, count_letters, describe_dialogues
from analysis.stats.ratings import or_nan, or_none
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

PASSED, FAILED, ALL = "passed", "failed", "all"
GROUPS = (PASSED, FAILED, ALL)
CLOUD, LENGTHS = "topic-words", "words-per-chat"
"""What the figures are called."""
N_TOPICS, N_WORDS = 50, 80
_DEGRADED = Kind.DEGRADED.name.lower()
_MOST_BINS = 24


def summarise_dialogues(
    loaded: LoadedDialogues, group_of: Mapping[str, str], is_degraded: Mapping[str, bool], *, is_tested: bool = True
) -> dict[str, Any]:
    """Return what the chats of passed, failed and all workers are like. Undefined numbers are None.

    `group_of` says of each worker of the ratings whether they passed or failed, else anything; who is not in it counts
    among all only. `is_degraded` says of each system of the ratings whether it is the degraded chatbot; the chat's own
    kind comes first. `is_tested`: whether there is a worker test; without one there is only the group `all`.

    `groups` → {`passed`, `failed`, `all`} → counts, opinions, lengths, changes of topic; `per_input_over`: whether the
    quartiles of lengths per input are over single `inputs` or over the means of `chats`; `topic_sent` → {`yes`, `no`} →
    in how many chats, those with the degraded chatbot left out; `topics`, the most frequent first; `words` of the
    topics of passed workers (all, without a test); `histogram` of words per chat; `notices`.
    """
    wanted = GROUPS if is_tested else (ALL,)
    workers = sorted(loaded.workers)
    dialogues = _arrays(loaded, workers, is_degraded)
    of = [group_of.get(worker, "") for worker in workers]
    members = {group: np.array([group in (ALL, each) for each in of], bool) for group in wanted}
    chats = {
        group: [chat for chat in loaded.chats if group == ALL or group_of.get(chat.worker) == group] for group in wanted
    }
    topics = {group: count_topics(chat.topic for chat in chats[group]) for group in wanted}
    return {
        "groups": {group: _group(describe_dialogues(dialogues, members[group])) for group in wanted},
        "per_input_over": "chats" if dialogues.inputs is None else "inputs",
        "topic_sent": _topic_sent(loaded, is_degraded),
        "n_topics": len(topics[ALL]),
        "topics": [
            {"topic": topic} | {group: topics[group][topic] for group in wanted}
            for topic, _ in most_common(topics[ALL], N_TOPICS)
        ],
        "words": [
            {"word": word, "n": n}
            for word, n in most_common(count_words(chat.topic for chat in chats[wanted[0]]), N_WORDS)
        ],
        "histogram": _histogram(dialogues, {group: members[group] for group in wanted if group != ALL} or members),
        "notices": _notices(loaded, group_of, is_degraded, is_tested=is_tested),
    }


def groups_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups of such a document in the order of `GROUPS`: a database may have changed it."""
    return {name: found["groups"][name] for name in GROUPS if name in found["groups"]}


def _arrays(loaded: LoadedDialogues, workers: Sequence[str], is_degraded: Mapping[str, bool]) -> Dialogues:
    seconds = {work[:2]: work.seconds for work in loaded.work}
    assignments = sorted({*seconds, *((chat.worker, chat.assignment) for chat in loaded.chats)})
    code = {assignment: k for k, assignment in enumerate(assignments)}
    worker = {name: k for k, name in enumerate(workers)}
    opinion = {name: k for k, name in enumerate(OPINIONS)}
    chats = loaded.chats
    inputs, words, characters = (
        or_nan([getattr(chat, name) for chat in chats]) for name in ("n_inputs", "n_words", "n_characters")
    )
    return Dialogues(
        inputs=_inputs(chats),
        assignment=np.array([code[chat.worker, chat.assignment] for chat in chats], np.int64),
        is_degraded=np.array([_is_degraded(chat, is_degraded) for chat in chats], bool),
        opinion=np.array([opinion.get(chat.opinion, -1) for chat in chats], np.int64),
        n_inputs=inputs,
        n_words=words,
        n_characters=count_letters(characters, words, inputs),
        changes_by_chatbot=or_nan([chat.changes_by_chatbot for chat in chats]),
        changes_by_worker=or_nan([chat.changes_by_worker for chat in chats]),
        worker=np.array([worker[name] for name, _ in assignments], np.int64),
        seconds=or_nan([seconds.get(assignment) for assignment in assignments]),
    )


def _is_degraded(chat: Chat, known: Mapping[str, bool]) -> bool:
    return chat.kind == _DEGRADED if chat.kind else known.get(chat.system, False)


def _inputs(chats: Sequence[Chat]) -> Inputs | None:
    """Return the single inputs of all chats; None unless those of every chat are known."""
    if not all(map(_has_inputs, chats)):
        return None
    words = [chat.words_by_input or () for chat in chats]
    n_words, n_characters = (
        or_nan([number for of_chat in each for number in of_chat])
        for each in (words, [chat.chars_by_input or () for chat in chats])
    )
    place = np.repeat(np.arange(len(chats)), [len(of_chat) for of_chat in words])
    return Inputs(place, n_words, count_letters(n_characters, n_words, np.ones_like(n_words)))


def _has_inputs(chat: Chat) -> bool:
    return chat.words_by_input is not None and chat.chars_by_input is not None


def _topic_sent(loaded: LoadedDialogues, is_degraded: Mapping[str, bool]) -> dict[str, int]:
    sent = Counter(chat.topic_sent for chat in loaded.chats if not _is_degraded(chat, is_degraded))
    return {answer: sent[answer] for answer in (YES, NO)}


def _group(found: DialogueSummary) -> dict[str, Any]:
    counts = found.opinions.tolist()
    n_opinions = sum(counts)
    return {
        "workers": found.n_workers,
        "assignments": found.n_assignments,
        "assignments_per_worker": or_none(found.assignments_per_worker),
        "chats": found.n_chats,
        "chats_not_degraded": found.n_ordinary,
        "minutes_per_chat": or_none(found.minutes_per_chat),
        "opinions": {
            name: {"n": n, "share": n / n_opinions if n_opinions else None}
            for name, n in zip(OPINIONS, counts, strict=True)
        },
        "lengths": {
            "inputs_per_chat": _quartiles(found.inputs),
            "words_per_chat": _quartiles(found.words),
            "characters_per_chat": _quartiles(found.characters),
            "words_per_input": _quartiles(found.words_per_input),
            "characters_per_input": _quartiles(found.characters_per_input),
        },
        "topic_changes": {
            "by_chatbot": or_none(found.changes_by_chatbot),
            "by_worker": or_none(found.changes_by_worker),
            "share_of_chats": or_none(found.share_changed),
        },
    }


def _quartiles(found: Quartiles) -> dict[str, Any]:
    return {name: or_none(value) if isinstance(value, float) else value for name, value in asdict(found).items()}


def _histogram(dialogues: Dialogues, members: Mapping[str, NDArray[np.bool_]]) -> dict[str, Any]:
    """Return the words per chat of groups of workers in bins of equal width; the last one is open.

    The bins hold all but the longest 2 % of the chats; `edges` are the lower ends.
    """
    words = {
        group: dialogues.n_words[
            members[group][dialogues.worker][dialogues.assignment]
            & ~dialogues.is_degraded
            & ~np.isnan(dialogues.n_words)
        ]
        for group in members
    }
    both = np.concatenate(list(words.values()))
    if not both.size:
        return {"edges": []} | {group: [] for group in members}
    width = next(
        step * 10**power
        for power in range(9)
        for step in (1, 2, 5)
        if np.percentile(both, 98) < step * 10**power * _MOST_BINS or power == 8
    )
    n_bins = min(int(both.max()) // width + 1, _MOST_BINS)
    return {"edges": [k * width for k in range(n_bins)]} | {
        group: np.bincount(np.minimum(values // width, n_bins - 1).astype(np.int64), minlength=n_bins).tolist()
        for group, values in words.items()
    }


def _notices(
    loaded: LoadedDialogues, group_of: Mapping[str, str], is_degraded: Mapping[str, bool], *, is_tested: bool
) -> list[str]:
    """Return a sentence for whatever is missing or does not fit the ratings. Nobody is named."""
    chats = loaded.chats
    with_chats = {chat.worker for chat in chats}
    with_work = {work[:2] for work in loaded.work}
    lacking: Counter[str] = Counter()
    for chat in chats:
        lacking["opinion"] += not chat.opinion
        lacking["topic"] += not chat.topic
        lacking["input"] += chat.n_inputs == 0
        lacking["time"] += bool(with_work) and (chat.worker, chat.assignment) not in with_work
        lacking["system"] += not chat.kind and bool(chat.system) and chat.system not in is_degraded
    sent = _topic_sent(loaded, is_degraded)
    n_sums = len(chats) - sum(map(_has_inputs, chats))
    unknown = loaded.workers - set(group_of)
    neither = {worker for worker in loaded.workers if group_of.get(worker, PASSED) not in (PASSED, FAILED)}
    silent = set(group_of) - with_chats
    idle = with_work - {(chat.worker, chat.assignment) for chat in chats}
    among_all = ": among all, neither passed nor failed." if is_tested else ": among all."
    found = {
        f"{counted(len(unknown), 'worker')} without ratings{among_all}": unknown,
        f"{counted(len(neither), 'worker')} untested or excluded{among_all}": is_tested and neither,
        f"{counted(len(silent), 'worker')} of the ratings without a chat.": chats and silent,
        f"{counted(len(idle), 'assignment')} without a chat: the time does not count.": chats and idle,
        f"{counted(lacking['time'], 'chat')} of assignments whose time is not given.": lacking["time"],
        f"{counted(lacking['opinion'], 'chat')} without an opinion.": 0 < lacking["opinion"] < len(chats),
        f"The topic was sent to the chatbot in {counted(sent[YES], 'chat')}, and not in {sent[NO]:,}.": (
            sent[YES] and sent[NO]
        ),
        f"{counted(lacking['topic'], 'chat')} without a topic.": 0 < lacking["topic"] < len(chats),
        f"{counted(lacking['input'], 'chat')} without an input, and so without a mean per input.": lacking["input"],
        f"{counted(n_sums, 'chat')} without the words of each input: quartiles per input are of each chat's mean.": (
            0 < n_sums < len(chats)
        ),
        f"{counted(lacking['system'], 'chat')} with a chatbot that is not in the ratings: taken as not degraded.": (
            lacking["system"]
        ),
    }
    return [sentence for sentence, is_so in found.items() if is_so]
