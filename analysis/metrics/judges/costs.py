"""What calls of a judge cost: what one cost, what it may cost at most, about what many will cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

_MILLION = 1_000_000
_SMALLEST, _SHOWN = Decimal("0.000001"), Decimal("0.0001")
# What servers put around a prompt, such as the marks of its role.
_AROUND_PROMPT = 64
BYTES_PER_TOKEN = 4
"""Of English text; other languages take more tokens."""
# A rating with its number and punctuation, and the braces.
_PER_RATING, _BRACES = 6, 4


@dataclass(frozen=True)
class Prices:
    """Prices of a call, of a million tokens read and of a million written, in one currency."""

    per_call: Decimal = Decimal(0)
    tokens_in: Decimal = Decimal(0)
    tokens_out: Decimal = Decimal(0)

    @property
    def are_zero(self) -> bool:
        """Whether calls cost nothing."""
        return not (self.per_call or self.has_tokens)

    @property
    def has_tokens(self) -> bool:
        """Whether tokens cost something."""
        return bool(self.tokens_in or self.tokens_out)

    def of(self, n_tokens_in: int, n_tokens_out: int) -> Decimal:
        """Return what a call of so many tokens costs, rounded up to six decimals."""
        exact = self.per_call + (self.tokens_in * n_tokens_in + self.tokens_out * n_tokens_out) / _MILLION
        return exact.quantize(_SMALLEST, ROUND_CEILING)

    def at_most(self, n_bytes: int, max_tokens: int) -> Decimal:
        """Return what a call may cost whose request has `n_bytes` and whose answer has up to `max_tokens`.

        Tokenizers that work on bytes make no more tokens than there are bytes.
        """
        return self.of(n_bytes + _AROUND_PROMPT, max_tokens)


@dataclass(frozen=True)
class Estimate:
    """What judging outputs takes: calls, about how many tokens, about how much money (`cost`), and at most (`most`)."""

    n_calls: int
    n_tokens_in: int
    n_tokens_out: int
    cost: Decimal
    most: Decimal


def estimate(
    n_calls: int, prompt_bytes: Sequence[int], prices: Prices, *, n_statements: int, max_tokens: int
) -> Estimate:
    """Return the estimate for `n_calls`; `prompt_bytes` are the bytes of each prompt, or of a sample of the prompts.

    Calls that are made again, because there was no answer or none that could be read, come on top.
    """
    if not n_calls or not prompt_bytes:
        return Estimate(n_calls, 0, 0, Decimal(0), Decimal(0))
    times = Decimal(n_calls) / len(prompt_bytes)
    n_in = int(times * sum(-(-n // BYTES_PER_TOKEN) + _AROUND_PROMPT for n in prompt_bytes))
    n_out = n_calls * min(_PER_RATING * n_statements + _BRACES, max_tokens)
    cost = prices.per_call * (n_calls - 1) + prices.of(n_in, n_out)
    most = times * sum((prices.at_most(n, max_tokens) for n in prompt_bytes), Decimal(0))
    return Estimate(n_calls, n_in, n_out, *(each.quantize(_SHOWN, ROUND_CEILING) for each in (cost, most)))
