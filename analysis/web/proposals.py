"""How a ratings file is to be analysed, as it looks: what the page proposes, and scripts may read."""

from dataclasses import dataclass, replace
from typing import Literal

from django.http import Http404

from analysis.data.ratings.columns import criterion_of
from analysis.methods import get_method
from analysis.methods.settings import (
    CUSTOM,
    LONGEST_STATEMENT,
    AnalysisSettings,
    custom_settings,
    from_protocol,
    protocols_with,
)
from analysis.models import RatingsFile
from analysis.web.queries import ratings_files as queries
from analysis.web.queries.campaigns import settings_of
from campaigns.contracts.protocol import Protocol
from campaigns.design.worker_test import NO_TEST
from campaigns.protocols import find_protocol, list_protocols
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import shorten

Question = Literal["", "unnamed", "own", "several", "more"]
"""Nothing is open; the file names no criterion; no protocol has its criteria; several have; all that do have more."""


@dataclass(frozen=True)
class Proposal:
    """Settings for a file, and what it has.

    `presets` are the protocol's, `settings` the same without a worker test if no item of the file is degraded.
    `criteria` are those that its first rows name. `refused` says why the settings of the campaign, or a criterion of
    the file, cannot be used; "" if they can. `question` is what a person has to say, because the file does not: which
    of `candidates`, the protocols that have its criteria.
    """

    presets: AnalysisSettings
    settings: AnalysisSettings
    criteria: list[str]
    refused: str
    question: Question = ""
    candidates: tuple[type[Protocol], ...] = ()

    @property
    def cannot_test(self) -> bool:
        """Whether the protocol has a worker test that this file has nothing for."""
        return self.settings.preset != self.presets.preset


def propose_settings(file: RatingsFile, slug: str | None = None, parent: AnalysisSettings | None = None) -> Proposal:
    """Return the settings of an earlier run, of a protocol, of the file's campaign or of a protocol with its criteria.

    A file that no protocol claims is taken to have criteria of its own, never those of a protocol. Reads the file's
    first rows, and its column of kinds. Raises Http404 if there is no such protocol.
    """
    if slug is not None and find_protocol(slug) is None:
        raise Http404("There is no such protocol.")
    found = queries.criteria_in(file)
    question: Question = ""
    candidates: tuple[type[Protocol], ...] = ()
    if parent:
        presets, refused = parent, ""
    else:
        named, refused = _usable(found)
        presets, problem, is_given = _given(slug, named, file)
        if not is_given:
            presets, question, candidates = _guess(named, file)
        refused = problem or refused
    cannot_test = not parent and presets.preset != NO_TEST and not queries.has_degraded(file)
    settings = replace(presets, preset=NO_TEST) if cannot_test else presets
    return Proposal(presets, settings, found, refused, question, candidates)


def find_file_protocol(file: RatingsFile) -> str:
    """Return the protocol whose files have the columns of this one, where no column of scores is needed; else ""."""
    fitting = (each for each in list_protocols() if get_method(each.method).fits(file.columns))
    return next((protocol.slug for protocol in fitting), "")


def _usable(found: list[str]) -> tuple[list[str], str]:
    """Return the criteria of a file that can be names or statements, and why another cannot."""
    texts = [name for name in found if len(name) > LONGEST_STATEMENT]
    if not texts:
        return found, ""
    return [name for name in found if name not in texts], (
        f"“{shorten(texts[0])}” has {len(texts[0])} characters, which is not the name of a criterion. Choose "
        "another column of criteria, or shorten it in the file."
    )


def _given(slug: str | None, named: list[str], file: RatingsFile) -> tuple[AnalysisSettings, str, bool]:
    """Return the settings that somebody has chosen, by a protocol or a campaign; why the campaign's cannot be used."""
    if slug is not None:
        return (custom_settings(named) if slug == CUSTOM else from_protocol(slug)), "", True
    if file.campaign:
        try:
            return settings_of(file.campaign), "", True
        except DomainError as error:
            return custom_settings(named), f"The campaign's settings cannot be used. {error.message}", False
    return custom_settings(named), "", False


def _guess(named: list[str], file: RatingsFile) -> tuple[AnalysisSettings, Question, tuple[type[Protocol], ...]]:
    """Return the settings that fit a file by its criteria, and what it leaves open."""
    if not named:
        column = criterion_of(str(file.mapping.get("score") or ""))
        return custom_settings([column] if column else []), "unnamed", ()
    candidates, is_exact = protocols_with(named)
    if not candidates:
        return custom_settings(named), "own", ()
    question: Question = "several" if len(candidates) > 1 else "" if is_exact else "more"
    return from_protocol(candidates[0].slug), question, tuple(candidates)
