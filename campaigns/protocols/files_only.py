"""Protocols whose responses are only read from files: their titles, and how the responses are analysed."""

from campaigns.contracts.protocol import Protocol
from campaigns.design.worker_test import NO_TEST


class FilesOnly(Protocol):
    """A protocol that no campaign is made of, so without criteria, HITs and worker test."""

    criteria = ()
    worker_test = NO_TEST
    has_campaigns = False


class Mqm(FilesOnly):
    """Experts mark each error of a translation, with its category and severity (Lommel et al. 2014; Freitag et al.
    2021)."""

    slug = "mqm"
    title = "MQM"
    summary = "Errors marked in each output, with category and severity."
    method = "spans"


class Esa(FilesOnly):
    """Raters mark the errors of a translation with their severity, then score it from 0 to 100 (Kocmi et al. 2024)."""

    slug = "esa"
    title = "ESA"
    summary = "Errors marked in each output, then a score of the whole."
    method = "esa"


class Likert(FilesOnly):
    """A worker says on a scale of a few ordered levels how good an output is (Likert 1932)."""

    slug = "likert"
    title = "Likert"
    summary = "Quality on a scale of a few levels."
    method = "ordinal"


class Preference(FilesOnly):
    """A worker sees the outputs of two systems and says which one is better."""

    slug = "preference"
    title = "Preference"
    summary = "Which of two outputs is better?"
    method = "preference"


class Ranking(FilesOnly):
    """A worker puts several outputs in order, ties allowed."""

    slug = "ranking"
    title = "Ranking"
    summary = "Several outputs in order, ties allowed."
    method = "ranking"


class BestWorst(FilesOnly):
    """A worker says which of several outputs is the best and which the worst."""

    slug = "best-worst"
    title = "Best–worst"
    summary = "The best and the worst of several outputs."
    method = "best_worst"
