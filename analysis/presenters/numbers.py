"""Numbers as tables print them."""


def number(value: float | None, decimals: int = 3, sign: bool = False) -> str:
    """Return a number with a true minus sign; a dash for None."""
    if value is None:
        return "–"
    text = f"{value:{'+' if sign else ''}.{decimals}f}"
    is_zero = not text.strip("+-0.")
    return text.lstrip("-") if is_zero else text.replace("-", "−")


def p_text(p: float | None) -> str:
    """Return a p-value with four decimals, as papers print it: .0312, < .0001, > .9999; a dash for None."""
    if p is None:
        return "–"
    if p < 0.0001:
        return "< .0001"
    return "> .9999" if p > 0.9999 else f"{p:.4f}".lstrip("0")
