"""Fields for prices and caps, of chatbots and of judges."""

from decimal import Decimal

from django import forms

_MOST_PRICE, _MOST_CAP = Decimal(100_000), Decimal(10_000_000)


def price_field(label: str, help_text: str = "", *, required: bool = True) -> forms.DecimalField:
    """Return a field for a price, with up to six decimals."""
    return forms.DecimalField(
        label=label,
        min_value=Decimal(0),
        max_value=_MOST_PRICE,
        decimal_places=6,
        required=required,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )


def cap_field(label: str, help_text: str) -> forms.DecimalField:
    """Return a field for the most that may be spent, with up to two decimals; empty for no cap."""
    return forms.DecimalField(
        label=label,
        min_value=Decimal(0),
        max_value=_MOST_CAP,
        decimal_places=2,
        required=False,
        help_text=help_text,
    )


def typed_amount(amount: Decimal | None) -> str | None:
    """Return an amount as people type it, without zeros at its end."""
    return None if amount is None else f"{amount.normalize():f}"
