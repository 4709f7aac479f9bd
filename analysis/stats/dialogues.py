"""What chats are like: opinions of topics, length of what workers say, changes of topic, time."""

import math
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Codes, Floats, Mask


class Opinion(IntEnum):
    """What a worker thinks of the topic of a chat."""

    LIKE = 0
    AMBIVALENT = 1
    DISLIKE = 2


@dataclass(frozen=True)
class Inputs:
    """Every single input of the worker's in some chats, as numbers.

    Attributes
    ----------
    chat : int, (n_inputs,)
        The chat of each, by its place.
    n_words, n_characters : float64, (n_inputs,)
        Words by white space, characters other than white space.
    """

    chat: Codes
    n_words: Floats
    n_characters: Floats


@dataclass(frozen=True)
class Dialogues:
    """Every chat of some assignments, as numbers.

    Attributes
    ----------
    assignment : int, (n_chats,)
        Codes from 0.
    is_degraded : bool, (n_chats,)
        Whether the chat was with the degraded chatbot.
    opinion : int, (n_chats,)
        `Opinion` codes; −1 where it is not known.
    n_inputs, n_words, n_characters : float64, (n_chats,)
        Of the worker's side: inputs, words by white space, characters other than white space; NaN where not known.
    changes_by_chatbot, changes_by_worker : float64, (n_chats,)
        Changes of topic noted in the chat; NaN where none could be noted.
    worker : int, (n_assignments,)
        Whose each assignment is, codes from 0.
    seconds : float64, (n_assignments,)
        How long each assignment took; NaN where not known.
    inputs : Inputs or None
        The single inputs of all chats; None where only the sums of each chat are known.
    """

    assignment: Codes
    is_degraded: Mask
    opinion: Codes
    n_inputs: Floats
    n_words: Floats
    n_characters: Floats
    changes_by_chatbot: Floats
    changes_by_worker: Floats
    worker: Codes
    seconds: Floats
    inputs: Inputs | None = None


@dataclass(frozen=True)
class Quartiles:
    """Lower quartile, median, upper quartile and mean of `n` values; NaN of none."""

    n: int
    low: float
    median: float
    high: float
    mean: float


@dataclass(frozen=True)
class DialogueSummary:
    """What the chats of some workers are like.

    Attributes
    ----------
    n_workers, n_assignments, n_chats : int
        Workers with an assignment, their assignments and chats, those with the degraded chatbot included.
    n_ordinary : int
        Chats with the other chatbots.
    minutes_per_chat : float
        Working time of the assignments whose time is known, over their number of chats.
    opinions : int64, (3,)
        Chats of each `Opinion`, those with the degraded chatbot included: the topic is chosen before the chat.
    inputs, words, characters : Quartiles
        Per ordinary chat.
    words_per_input, characters_per_input : Quartiles
        Of the single inputs of ordinary chats; where these are not known, of each chat's mean over its inputs. The mean
        is over all inputs in either case.
    changes_by_chatbot, changes_by_worker : float
        Mean per ordinary chat.
    share_changed : float
        Ordinary chats whose topic changed, as a share of those in which it could be noted.
    """

    n_workers: int
    n_assignments: int
    n_chats: int
    n_ordinary: int
    assignments_per_worker: float
    minutes_per_chat: float
    opinions: NDArray[np.int64]
    inputs: Quartiles
    words: Quartiles
    characters: Quartiles
    words_per_input: Quartiles
    characters_per_input: Quartiles
    changes_by_chatbot: float
    changes_by_worker: float
    share_changed: float


def count_letters(n_characters: Floats, n_words: Floats, n_inputs: Floats) -> Floats:
    """Return the characters of inputs other than white space, of their characters with single spaces between words.

    Parameters
    ----------
    n_characters, n_words, n_inputs : float64, (n_chats,)
        Sums over the inputs of each chat; NaN where not known.

    Returns
    -------
    float64, (n_chats,)
        n_characters − (n_words − n_inputs), since an input of w words holds w − 1 spaces; NaN where any is.

    References
    ----------
    Ji's thesis, Table A.9, whose characters per conversation (249 and 188) come out so, and do not with spaces.

    Examples
    --------
    >>> count_letters(np.array([10.0]), np.array([3.0]), np.array([1.0]))  # "I like tea"
    array([8.])
    """
    return np.asarray(n_characters - np.maximum(n_words - n_inputs, 0.0))


def describe_dialogues(dialogues: Dialogues, is_member: Mask) -> DialogueSummary:
    """Describe the chats of some workers.

    Parameters
    ----------
    is_member : bool, (n_workers,)
        Whose chats are described.

    Returns
    -------
    DialogueSummary
        NaN where there is nothing to average.

    Notes
    -----
    The study counts the chats with its degraded chatbot among opinions and in the time per chat, and leaves them out of
    numbers and lengths of chats. Lengths per input are Σ words / Σ inputs as a mean, for which sums are enough, and
    quartiles over inputs, for which they are not. A chat without an input enters neither.

    References
    ----------
    Ji's thesis, Tables 5.2 (opinions), 5.3 (time, HITs per worker) and A.9 (medians of lengths); METHOD §2.
    """
    is_own = is_member[dialogues.worker]
    is_chat = is_own[dialogues.assignment]
    is_ordinary = is_chat & ~dialogues.is_degraded
    n_workers = n_distinct(dialogues.worker[is_own])
    n_assignments = int(np.count_nonzero(is_own))
    opinion = dialogues.opinion[is_chat & (dialogues.opinion >= 0)]
    n_inputs = dialogues.n_inputs[is_ordinary]
    words, characters = dialogues.n_words[is_ordinary], dialogues.n_characters[is_ordinary]
    by_chatbot, by_worker = dialogues.changes_by_chatbot[is_ordinary], dialogues.changes_by_worker[is_ordinary]
    changes = by_chatbot + by_worker
    singles = dialogues.inputs
    is_single = is_ordinary[singles.chat] if singles else np.array([], bool)
    return DialogueSummary(
        n_workers=n_workers,
        n_assignments=n_assignments,
        n_chats=int(np.count_nonzero(is_chat)),
        n_ordinary=int(np.count_nonzero(is_ordinary)),
        assignments_per_worker=n_assignments / n_workers if n_workers else math.nan,
        minutes_per_chat=_minutes_per_chat(dialogues, is_own),
        opinions=np.bincount(opinion, minlength=len(Opinion)).astype(np.int64),
        inputs=quartiles(n_inputs),
        words=quartiles(words),
        characters=quartiles(characters),
        words_per_input=_per_input(words, n_inputs, singles.n_words[is_single] if singles else None),
        characters_per_input=_per_input(characters, n_inputs, singles.n_characters[is_single] if singles else None),
        changes_by_chatbot=_mean(by_chatbot),
        changes_by_worker=_mean(by_worker),
        share_changed=_mean(np.where(np.isnan(changes), np.nan, changes > 0)),
    )


def quartiles(values: Floats) -> Quartiles:
    """Return quartiles and mean of the values that are not NaN, quartiles linear between two of them.

    Parameters
    ----------
    values : float64, (n,)

    Examples
    --------
    >>> quartiles(np.array([4.0, 1.0, np.nan, 4.0]))
    Quartiles(n=3, low=2.5, median=4.0, high=4.0, mean=3.0)
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return Quartiles(0, math.nan, math.nan, math.nan, math.nan)
    low, median, high = (float(value) for value in np.percentile(known, [25, 50, 75]))
    return Quartiles(int(known.size), low, median, high, _mean(known))


def _minutes_per_chat(dialogues: Dialogues, is_own: Mask) -> float:
    n_chats = np.bincount(dialogues.assignment, minlength=dialogues.worker.size)
    is_timed = is_own & ~np.isnan(dialogues.seconds) & (n_chats > 0)
    total = int(n_chats[is_timed].sum())
    # Summed exactly: no result depends on the order of the assignments.
    return math.fsum(dialogues.seconds[is_timed].tolist()) / 60 / total if total else math.nan


def _per_input(sums: Floats, n_inputs: Floats, singles: Floats | None) -> Quartiles:
    """Return quartiles of single inputs, or else of each chat's mean; the mean is over all inputs."""
    if singles is not None:
        return quartiles(singles)
    is_known = (n_inputs > 0) & ~np.isnan(sums)
    sums, n_inputs = sums[is_known], n_inputs[is_known]
    mean = math.fsum(sums.tolist()) / math.fsum(n_inputs.tolist()) if sums.size else math.nan
    return replace(quartiles(sums / n_inputs), mean=mean)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / known.size if known.size else math.nan
