"""Runs of `manage.py analyse`, for every response method."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command


@pytest.fixture
def rng():
    return np.random.default_rng(15)


@pytest.fixture
def analyse():
    """Return a function that runs the command and returns what it printed, on both streams."""

    def run(*arguments, **options):
        out, err = StringIO(), StringIO()
        call_command("analyse", *map(str, arguments), stdout=out, stderr=err, **options)
        return out.getvalue(), err.getvalue()

    return run
