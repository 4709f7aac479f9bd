"""Errors marked in the output: MQM (Lommel et al. 2014; Freitag et al. 2021) and ESA (Kocmi et al. 2024)."""

from campaigns.contracts.protocol import Protocol, Screen
from campaigns.design.worker_test import NO_TEST


class Mqm(Protocol):
    """Experts mark each error of a translation, with its category and severity."""

    slug = "mqm"
    title = "MQM"
    summary = "Errors marked in each output, with category and severity."
    criteria = ()
    worker_test = NO_TEST
    screen = Screen(output_label="Translation")
    method = "spans"
    has_campaigns = False


class Esa(Protocol):
    """Raters mark the errors of a translation with their severity, then score it from 0 to 100."""

    slug = "esa"
    title = "ESA"
    summary = "Errors marked in each output, then a score of the whole."
    criteria = ()
    worker_test = NO_TEST
    screen = Screen(output_label="Translation")
    method = "esa"
    has_campaigns = False
