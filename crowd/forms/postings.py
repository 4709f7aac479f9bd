"""What is to be done to postings."""

from django import forms

from crowd.models import Order

_ACTS = (Order.Kind.PAUSE, Order.Kind.RESUME, Order.Kind.STOP, Order.Kind.DELETE)


class ActForm(forms.Form):
    """An act, and the posting that is meant; without one, all."""

    act = forms.ChoiceField(choices=[(each.value, each.label) for each in _ACTS])
    posting = forms.IntegerField(min_value=1, required=False)
