"""The stage on which web sites of simulators are shown."""

import pytest

from tests.simulators.stages import stage


@pytest.fixture(scope="module")
def the_stage():
    with stage() as made:
        yield made
