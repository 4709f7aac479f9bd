"""Sensibleness and specificity of replies, and their mean (Adiwardana et al. 2020)."""

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.loading import WITH_COPIES, load_scores
from analysis.data.notices import ResponsesWarning
from analysis.data.responses import Responses
from analysis.methods import ResponseMethod, ResponsesFile
from analysis.methods.ordinal import Ordinal
from analysis.methods.settings import AnalysisSettings
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing

if TYPE_CHECKING:
    from campaigns.contracts.response import ResponseKind

SENSIBLE, SPECIFIC = "sensible", "specific"
_WORDS = {"sensible": SENSIBLE, "sensibleness": SENSIBLE, "specific": SPECIFIC, "specificity": SPECIFIC}
_YES, _NO = ("1", "yes", "true"), ("0", "no", "false")


class Ssa(Ordinal):
    """The mean of the share of sensible replies and the share of specific ones."""

    slug = "ssa"
    title = "Sensible and specific (SSA)"
    summary = "The mean of the shares of sensible and of specific replies."
    unit = "mean share"
    options = ()

    @classmethod
    def reads(cls, kind: "type[ResponseKind]", settings: Mapping[str, Any]) -> bool:
        """Tell whether answers are 0 or 1."""
        return set(kind.levels(settings) or ()) == {0, 1}

    def check_options(self, options: Mapping[str, Any]) -> None:
        """There are none."""
        ResponseMethod.check_options(self, options)

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the answers of a file, 0 or 1; a reply that is not sensible is not specific."""
        data = load_scores(
            file.path,
            _read,
            f"one of: {', '.join((*_YES, *_NO))}",
            criterion="",
            choices=file.choices_for(settings),
            kinds=WITH_COPIES,
        )
        names = [_WORDS.get(name.casefold(), "") for name in data.criteria]
        if sorted(names) != [SENSIBLE, SPECIFIC]:
            found = listing(data.criteria)
            raise DomainError("bad_criteria", f"The criteria must be “sensible” and “specific”; they are {found}.")
        return complete_specific(data, names.index(SENSIBLE), names.index(SPECIFIC))


def _read(label: str) -> float:
    word = label.casefold()
    return 1.0 if word in _YES else 0.0 if word in _NO else nan


def complete_specific(data: Responses, sensible: int, specific: int) -> Responses:
    """Return answers in which every reply that is not sensible is not specific, as the measure is defined.

    Workers are asked whether a reply is specific only if it is sensible; what was not asked counts as no. Answers that
    say otherwise are changed. Both are counted in warnings. `sensible`, `specific`: the codes of the criteria.
    """
    reply, n = data.codes_of("worker", "system", "document", "source", "kind", "assignment")
    is_asked = data.criterion == sensible
    if np.bincount(reply * 2 + is_asked).max() > 1:
        raise DomainError(
            "same_reply",
            "A worker answers the same question about the same reply twice. Say in a column “source” which reply each "
            "row is about.",
        )
    is_senseless, has_specific = np.zeros(n, bool), np.zeros(n, bool)
    is_senseless[reply[is_asked & (data.score == 0)]] = True
    has_specific[reply[~is_asked]] = True
    changed = ~is_asked & (data.score == 1) & is_senseless[reply]
    score = np.where(changed, 0.0, data.score)
    added = np.flatnonzero(is_asked & (data.score == 0) & ~has_specific[reply])
    warnings = list(data.warnings)
    if added.size:
        said = f"Replies that are not sensible, and so not specific, without being asked: {added.size:,}."
        warnings.append(ResponsesWarning("not_asked", int(added.size), said))
    if n_changed := int(changed.sum()):
        said = f"Replies that are called specific and not sensible, which count as not specific: {n_changed:,}."
        warnings.append(ResponsesWarning("not_sensible", n_changed, said))
    return replace(
        data.take(np.append(np.arange(data.n), added)),
        criterion=np.append(data.criterion, np.full(added.size, specific)),
        numbers={"score": np.append(score, np.zeros(added.size))},
        warnings=warnings,
    )
