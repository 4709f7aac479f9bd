"""`{% load words %}`: numbers and times in words."""

from datetime import timedelta
from decimal import Decimal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from campaigns.contracts.records import Counted
from campaigns.models import Chatbot
from evalsite.lib import words

register = template.Library()

register.filter("counted", words.counted)
register.filter("long_duration", words.long_duration)


@register.filter
def counted_words(each: Counted) -> str:
    """Return how many of something there are, and what the note says.

    >>> counted_words(Counted(2, "payment record", "3.00 USD"))
    '2 payment records (3.00 USD)'
    """
    return words.counted(each.n, each.noun) + (f" ({each.note})" if each.note else "")


@register.filter
def duration(time: timedelta | None) -> str:
    """Return a time in few characters, as `words.short_duration`; an en dash for none."""
    return words.short_duration(time.total_seconds()) if time is not None else "–"


@register.filter
def milliseconds(time_ms: float) -> str:
    """Return milliseconds in few characters, as `words.short_duration`."""
    return words.short_duration(time_ms / 1000)


@register.filter
def seconds(time_s: float | None) -> str:
    """Return seconds without their unit, with one decimal, or two digits below one; an en dash for none.

    >>> seconds(4), seconds(0.0421), seconds(None)
    ('4.0', '0.042', '–')
    """
    if not isinstance(time_s, float | int):
        return "–"
    return f"{time_s:.1f}" if time_s >= 1 else f"{time_s:.2g}"


@register.filter
def one_decimal(value: float | None) -> str:
    """Return a number with one decimal; an en dash for none."""
    return f"{value:.1f}" if isinstance(value, float | int) else "–"


@register.filter
def percent(share: float | None) -> str:
    """Return a share as a percentage; an en dash for none.

    >>> percent(0.256), percent(None)
    ('26 %', '–')
    """
    return f"{100 * share:.0f} %" if isinstance(share, float | int) else "–"


@register.filter
def amount(value: Decimal) -> str:
    """Return an amount of no known currency with two decimals, or with as many as it has.

    >>> amount(Decimal("2")), amount(Decimal("0.003400")), amount(Decimal(0))
    ('2.00', '0.0034', '0')
    """
    value = Decimal(value)
    if not value:
        return "0"
    return f"{value:,.2f}" if value == value.quantize(Decimal("0.01")) else f"{value.normalize():,f}"


@register.filter
def spent(chatbot: Chatbot) -> str:
    """Return what a chatbot has cost, of its cap if it has one; "" if it costs nothing."""
    if chatbot.spending_cap is not None:
        return f"{amount(chatbot.spent)} of {amount(chatbot.spending_cap)}"
    return amount(chatbot.spent) if chatbot.spent else ""


@register.simple_block_tag
def stat(content: SafeString, label: str, value: str | int) -> SafeString:
    """`{% stat "HITs" n %}of 20 items{% endstat %}`: one number of a `dl class="stats"`, with a small note or none."""
    shown = f"{value:,}" if isinstance(value, int) else value
    note = format_html(' <span class="stat-note">{}</span>', content) if content.strip() else ""
    return format_html(
        '<div class="stat"><dt class="stat-label">{}</dt><dd class="stat-value">{}{}</dd></div>', label, shown, note
    )


@register.simple_block_tag
def total(content: SafeString, label: str, value: str | int, most: int | None = None) -> SafeString:
    """`{% total "Ratings" 3 5 %}for each criterion{% endtotal %}`: one number or range of a `dl class="totals"`."""
    shown = f"{value:,}" if isinstance(value, int) else value
    if most is not None and most != value:
        shown = f"{shown} to {most:,}"
    note = format_html(' <span class="total-note">{}</span>', content) if content.strip() else ""
    return format_html('<div class="total"><dt>{}</dt><dd><strong>{}</strong>{}</dd></div>', label, shown, note)


@register.filter
def money(value: Decimal, currency: str) -> str:
    """Return an amount with its currency.

    >>> money(Decimal("1234.5"), "USD")
    '1,234.50 USD'
    """
    return f"{value:,.2f} {currency}"
