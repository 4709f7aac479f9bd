"""What workers read before they rate."""

from django import forms

from campaigns.forms.partial import PartialForm
from campaigns.models import LONGEST_NAME
from campaigns.services.campaigns import CHANGEABLE_AFTER_LAUNCH
from evalsite.lib.fields import MarkdownField

_LONGEST = 50_000


class InstructionsForm(PartialForm):
    """Which study it is, whom to ask, and, in Markdown, instructions and consent text."""

    study_name = forms.CharField(
        label="Study name",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Workers see it. It should name neither systems nor what you expect to find.",
    )
    contact = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        help_text="Whom workers may ask: an e-mail address, a web address or any other text. It is on every page of "
        "theirs, and can be changed after the launch.",
    )
    instructions = MarkdownField(
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text="Shown before the HIT and at any time in it. Markdown: **bold**, *italic*, lists with “- ”, "
        "[links](https://example.org). A blank such as [[target language]] has to be filled in before the launch.",
    )
    consent = MarkdownField(
        label="Consent text",
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown. If there is one, a worker must agree to it before the first item.",
    )

    def freeze_launched(self) -> None:
        """Show what workers have read as frozen."""
        self.freeze(name for name in self.fields if name not in CHANGEABLE_AFTER_LAUNCH)
