"""Settings from the environment, parsed strictly: the string "False" is not true."""

import os


def env_bool(name: str, default: bool) -> bool:
    """Return the truth that the variable `name` spells; raise ValueError if it spells none."""
    text = os.environ.get(name, "").strip().lower()
    if not text:
        return default
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise ValueError(f"{name}={text!r} is neither true nor false; write 1 or 0")


def env_int(name: str, default: int) -> int:
    """Return the variable `name` as a whole number; raise ValueError naming it if it is none."""
    text = os.environ.get(name, "").strip()
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a whole number") from None


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Return which of the upper-case choices the variable `name` is, the first by default; raise ValueError if none."""
    text = os.environ.get(name, "").strip().upper() or choices[0]
    if text not in choices:
        raise ValueError(f"{name}={text!r} is none of {', '.join(choices)}")
    return text


def env_list(name: str, default: list[str]) -> list[str]:
    """Return the comma-separated values of the variable `name`."""
    text = os.environ.get(name, "")
    return [part.strip() for part in text.split(",") if part.strip()] if text else default
