"""Which sites may show worker pages and have work submitted to them: Amazon's own, and those of the admin."""

from urllib.parse import urlsplit

from django.conf import settings

# Workers see HITs in a frame of worker.mturk.com or of the sandbox. `turkSubmitTo` is www.mturk.com, which sends the
# form on to worker.mturk.com: browsers that check each redirect want both among the targets of forms.
AMAZON = ("https://worker.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com")
_PORTS = {"http": 80, "https": 443}


def allowed_sites() -> tuple[str, ...]:
    """Return the origins, each once."""
    own = (origin_of(settings.MTURK_SANDBOX_URL), *map(origin_of, settings.EXTERNAL_SITES))
    return tuple(dict.fromkeys((*AMAZON, *filter(None, own))))


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address in one spelling; "" if it has none, or a user name in it."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS[parts.scheme]) else "")
