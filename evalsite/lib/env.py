"""Settings from the environment, parsed strictly: the string "False" is not true."""

import os
import re
from collections.abc import Iterable
from email.utils import parseaddr
from ipaddress import ip_network
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit


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


def env_networks(name: str, default: list[str]) -> list[str]:
    """Return the comma-separated addresses and networks of the variable `name`; raise ValueError naming a wrong one."""
    found = env_list(name, default)
    for text in found:
        try:
            ip_network(text)
        except ValueError:
            raise ValueError(f"{name}: {text!r} is no address or network, such as 127.0.0.1 or 10.0.0.0/8") from None
    return found


def env_header(name: str) -> str:
    """Return the variable `name` as the name of a header, such as X-Remote-User; raise ValueError if it is none."""
    text = os.environ.get(name, "").strip()
    if text and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text):
        raise ValueError(f"{name}={text!r} is no name of a header, such as X-Remote-User")
    return text


def env_issuer(name: str) -> str:
    """Return the variable `name` as the address of an OpenID Connect provider; raise ValueError if it is not safe."""
    text = os.environ.get(name, "").strip()
    parts = urlsplit(text)
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    is_plain = bool(parts.hostname) and not (parts.query or parts.fragment or "@" in parts.netloc)
    if text and not (is_plain and (is_local or parts.scheme == "https")):
        raise ValueError(f"{name}={text!r} is no address of a provider, such as https://sso.example.org/realms/staff")
    return text


def env_claim(name: str) -> tuple[str, str] | None:
    """Return the variable `name`, such as `groups=evalsite`, in its two parts; raise ValueError if it has not two."""
    text = os.environ.get(name, "").strip()
    claim, _, value = (part.strip() for part in text.partition("="))
    if text and not (claim and value):
        raise ValueError(f"{name}={text!r} is no claim with its value, such as groups=evalsite")
    return (claim, value) if text else None


def env_contact(name: str) -> str:
    """Return the variable `name` as the address of a contact: an e-mail address gets `mailto:`; raise ValueError."""
    text = os.environ.get(name, "").strip()
    if not text:
        return ""
    _, address = parseaddr(text)
    if address == text and re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        text = f"mailto:{text}"
    if not re.fullmatch(r"(mailto:[^@\s]+@|https://|tel:)\S+", text):
        raise ValueError(f"{name}={text!r} is neither an e-mail address nor an address with https://")
    return text


def setting_line(name: str, value: str | Iterable[str]) -> str:
    """Return the line that sets a variable, as the environment file has it; several values are comma-separated."""
    return f"{name}={value if isinstance(value, str) else ','.join(value)}"


def ask_to_set(name: str, value: str | Iterable[str]) -> str:
    """Return the sentence that tells a user what an administrator has to set."""
    return f"Ask an administrator to set {setting_line(name, value)} for this server and to restart it."


_SHORTEST_KEY, _FEWEST_CHARACTERS = 32, 8
_SHORTEST_TOKEN = 16
_PLACEHOLDERS = re.compile(
    r"change(me|this|it)|replace(me|this)|djangoinsecure|secretkey|longrandom|placeholder|example|onlyfor|password"
)


def env_secret_key(name: str) -> str:
    """Return the variable `name`, an empty text if it is not set; raise ValueError if others could guess it."""
    whole = os.environ.get(name, "")
    key = whole.strip()
    if not key:
        return ""
    fault = ""
    if len(key) < _SHORTEST_KEY:
        fault = f"has fewer than {_SHORTEST_KEY} characters ({len(key)})"
    elif len(set(key)) < _FEWEST_CHARACTERS:
        fault = "repeats a few characters"
    elif _PLACEHOLDERS.search(re.sub("[^a-z]", "", key.lower())):
        fault = "looks like a placeholder"
    if fault:
        raise ValueError(
            f"{name} {fault}: others could guess it, make workers' links and read stored secrets. Set another, such as "
            """what `python -c "import secrets; print(secrets.token_urlsafe(50))"` prints. If this site has been """
            f"running with it, put the old one into {name}_FALLBACKS: links and stored secrets stay valid."
        )
    return whole  # with a line feed at its end it is another key


def env_token(name: str) -> str:
    """Return the variable `name`, an empty text if it is not set; raise ValueError if others could guess it."""
    token = os.environ.get(name, "").strip()
    if token and (len(token) < _SHORTEST_TOKEN or not token.isascii()):
        raise ValueError(f"{name} must have {_SHORTEST_TOKEN} or more ASCII characters, or others could guess it")
    return token


def env_former_keys(name: str) -> list[str]:
    """Return the comma-separated keys of the variable `name`, and all of it, which may be one key with a comma."""
    whole = os.environ.get(name, "")
    return list(dict.fromkeys([*env_list(name, []), whole])) if whole.strip() else []


class MailServer(NamedTuple):
    """The mail server. `use_tls` begins in clear and switches (STARTTLS), `use_ssl` is encrypted throughout."""

    host: str
    port: int
    user: str
    password: str
    use_tls: bool
    use_ssl: bool


def env_mail_server(name: str) -> MailServer | None:
    """Return the mail server of an address such as `smtp://user:password@host:587/?tls=1`; None if it is not set.

    `smtp` has STARTTLS unless `tls=0`; `smtps` needs no option. Raise ValueError, which never shows the password.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    form = f"{name} must look like smtp://user:password@host:587 or smtps://user:password@host:465"
    encoding = "write /, ?, #, @, : and % in user and password as %2F, %3F, %23, %40, %3A and %25"
    try:
        parts = urlsplit(text)
        port, options = parts.port, dict(parse_qsl(parts.query, keep_blank_values=True))
    except ValueError:
        raise ValueError(f"{form}; its port is not a number. Otherwise {encoding}") from None
    if parts.scheme not in ("smtp", "smtps"):
        raise ValueError(f"{form}; it begins with {parts.scheme + ':' if parts.scheme else 'no scheme'}")
    if not parts.hostname or parts.path.strip("/") or parts.fragment:
        raise ValueError(f"{form}; it names no host, or has something after the host. Otherwise {encoding}")
    if bool(parts.username) != bool(parts.password):
        raise ValueError(f"{form}; it has a user without a password, or a password without a user")
    use_ssl = parts.scheme == "smtps"
    tls = options.pop("tls", "0" if use_ssl else "1")
    if options or tls not in ("0", "1") or (use_ssl and tls == "1"):
        raise ValueError(f"{form}; after the host only ?tls=0 or ?tls=1 may follow, and only with smtp://")
    default_port = 465 if use_ssl else 587 if tls == "1" else 25
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port or default_port, user, password, tls == "1", use_ssl)


def env_sender(name: str, server: MailServer | None) -> str:
    """Return the address that mail comes from: the variable `name`, or the server's user if that is an address."""
    text = os.environ.get(name, "").strip() or (server.user if server else "")
    _, address = parseaddr(text)
    if "@" in address:
        return text
    if server or text:
        raise ValueError(f"{name} must be the e-mail address that mail comes from, such as evalsite@example.org")
    return "webmaster@localhost"
