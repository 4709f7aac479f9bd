"""`manage.py datasheet CAMPAIGN`: the Human Evaluation Datasheet of a campaign."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.results.exports import dump_json
from analysis.results.paper import heds
from analysis.web.queries.campaigns import get_datasheet
from campaigns.queries import find_by_name
from evalsite.lib.errors import DomainError


class Command(BaseCommand):
    """The sheet on standard output, how many questions are open on standard error."""

    help = f"Print the Human Evaluation Datasheet (HEDS {heds.VERSION}) of a campaign, filled as far as it can be."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("campaign", help="its id (the long one of its address) or its exact name")
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="Markdown text (default) or JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill in the sheet and print it."""
        try:
            campaign = find_by_name(options["campaign"])
        except DomainError as error:
            raise CommandError(str(error)) from None
        sections = get_datasheet(campaign)
        document = heds.to_document(campaign.name, sections)
        text = dump_json(document) if options["format"] == "json" else heds.to_markdown(campaign.name, sections)
        self.stdout.write(text, ending="" if text.endswith("\n") else None)
        self.stderr.write(f"{document['n_open']} of {len(heds.keys_of(sections))} questions are to be completed.")
