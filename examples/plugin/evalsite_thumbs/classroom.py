"""Students of a course, who come with their number: a platform in one file."""

import re
from collections.abc import Mapping
from typing import Any

from evalsite.campaigns.contracts.options import Number, OptionsForm
from evalsite.campaigns.contracts.platform import Arrival, CampaignRef, CrowdPlatform, bad_link

_NUMBER = re.compile(r"[0-9]{1,8}")


class Options(OptionsForm):
    """How many students there are."""

    n_students = Number(label="Students of the course", min_value=1, is_operational=True)


class Classroom(CrowdPlatform):
    """Each student follows the campaign's address with `?student=` and their number at the end."""

    slug = "classroom"
    title = "Classroom"
    summary = "Students of a course, who come with their number."
    options = Options

    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return the student with this number."""
        number = params.get("student", "")
        if not _NUMBER.fullmatch(number):
            raise bad_link("Write your student number behind ?student= in the address.")
        return Arrival(f"{campaign.public_id}:student {int(number)}")

    def max_workers(self, campaign: CampaignRef) -> int | None:
        """Return how many students there are."""
        return campaign.settings.get("n_students")

    @classmethod
    def describe(cls, settings: Mapping[str, Any]) -> str:
        """Say who comes."""
        return "Students come with their number."
