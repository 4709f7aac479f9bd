"""Errors marked in the output: MQM (Lommel et al. 2014; Freitag et al. 2021)."""

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
