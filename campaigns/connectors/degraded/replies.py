"""The replies of a file of dialogues, drawn at random and degraded (METHOD §1 and §2)."""

import numpy as np

from campaigns.design.degradation import STEPS_TO_29, degrade
from campaigns.design.errors import DesignError
from campaigns.design.seeds import draw_donors, generator
from campaigns.design.words import Unit, segment, unit_of
from campaigns.dialogues import MAX_TURNS, Dialogues, Places, read_dialogues
from evalsite.lib.caches import FileCache

_FEWEST_WORDS = 4
_CLUSTERS_PER_WORD = 2
_MOST_IN_A_CHAT = 1000
_TRIES = 20
_OF_NO_DIALOGUE = -1
# What a generator of a chat's seed is for
_ORDER, _REPLY = 0, 1


class Replies:
    """Replies that are long enough to be degraded visibly: four words, or eight clusters, where the file has such.

    A reply is a turn that answers another one. `n_turns` are those of the file.
    """

    def __init__(self, dialogues: Dialogues) -> None:
        self.n_turns = dialogues.n_turns
        lengths = np.array([_n_words(dialogues.texts[place]) for place in dialogues.replies])
        places = dialogues.replies[lengths >= min(_FEWEST_WORDS, lengths.max())]
        self._texts = [dialogues.texts[place] for place in places]
        self._n_chars = np.array([len(text) for text in self._texts])
        self._dialogue_of: Places = dialogues.dialogue_of[places]

    def degraded(self, seed: int, number: int, *, max_chars: int, earlier: frozenset[str] = frozenset()) -> str:
        """Return the reply of this number, from 0, in the chat of this seed, degraded; raise DesignError.

        Each number has another reply, as long as there are others of at most `max_chars` characters, and a text that is
        none of the `earlier` ones.
        """
        order = self._order(seed, max_chars)
        text, problem = "", DesignError("donor_too_short", "there is nothing to draw")
        for attempt in range(_TRIES):
            place = order[(number + attempt // 2) % len(order)]
            try:
                text = self._degrade(place, generator(seed, _REPLY, number, attempt))
            except DesignError as error:
                problem = error
                continue
            if text not in earlier:
                return text
        if text:
            return text
        raise problem

    def _order(self, seed: int, max_chars: int) -> list[int]:
        """Return the replies of a chat, no text twice, in the order in which they are drawn."""
        fitting = np.flatnonzero(self._n_chars <= max_chars)
        fitting = fitting if fitting.size else np.arange(len(self._texts))
        rng = generator(seed, _ORDER)
        drawn = draw_donors(self._dialogue_of[fitting], _OF_NO_DIALOGUE, rng, n_donors=_MOST_IN_A_CHAT)
        first_with: dict[str, int] = {}
        for place in fitting[drawn].tolist():
            first_with.setdefault(self._texts[place], place)
        return list(first_with.values())

    def _degrade(self, place: int, rng: np.random.Generator) -> str:
        """Replace words of a reply by words of a reply of another dialogue."""
        donors = draw_donors(self._dialogue_of, int(self._dialogue_of[place]), rng)
        if not donors.size:
            raise DesignError("donor_too_short", "only one dialogue has replies")
        first, *others = (self._texts[donor] for donor in donors)
        return degrade(self._texts[place], first, rng, STEPS_TO_29, further_donors=others)


def _n_words(text: str) -> int:
    unit = unit_of(text)
    n_units = len(segment(text, unit).units)
    return n_units // _CLUSTERS_PER_WORD if unit == Unit.CLUSTER else n_units


replies_of = FileCache(
    lambda path: Replies(read_dialogues(path)), size_of=lambda made: made.n_turns, max_size=MAX_TURNS
)
"""The replies of a file that `read_dialogues` can read; gathered once, and kept for the files asked for last."""
