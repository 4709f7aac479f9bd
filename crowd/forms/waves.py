"""Publishing the next HITs: how many, and the agreement to what they cost."""

from decimal import Decimal
from typing import Any

from django import forms

FIRST_WAVE = 10


class WaveForm(forms.Form):
    """How many HITs come next."""

    n_hits = forms.IntegerField(label="HITs", min_value=1)

    def __init__(self, n_left: int, data: Any = None) -> None:
        super().__init__(data, initial={"n_hits": min(FIRST_WAVE, n_left)})
        self._n_left = n_left

    def clean_n_hits(self) -> int:
        """Take no more than there are: others may have published some since the page was opened."""
        return min(int(self.cleaned_data["n_hits"]), self._n_left)


class PublishForm(forms.Form):
    """What was shown and agreed to."""

    token = forms.UUIDField(widget=forms.HiddenInput)
    n_hits = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    max_cost = forms.DecimalField(min_value=Decimal(0), max_digits=12, decimal_places=2, widget=forms.HiddenInput)
