"""Which hosts a client may be sent to, and which addresses are public. Names are resolved by the callers."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal

# Whether a host may be reached: never, at public addresses, or wherever its name leads.
Reach = Literal["none", "public", "any"]

# Not for one host on the internet, though the standard library calls some of them global (IANA's registries).
_SPECIAL_V4 = [IPv4Network(net) for net in ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4")]
_UNICAST_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = [IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "3fff::/20")]
_USUAL_PORTS = (80, 443)
_NAT64, _NAT64_BITS = IPv6Network("64:ff9b::/96"), 0xFFFFFFFF


@dataclass(frozen=True)
class _Entry:
    """A host, or the end of one after a star (“.example.org”; empty for every host), at one port or at all (None)."""

    host: str
    port: int | None
    is_wildcard: bool

    def matches(self, host: str, port: int) -> bool:
        is_meant = host.endswith(self.host) and host != self.host if self.is_wildcard else host == self.host
        return is_meant and self.port in (None, port)


class AllowList:
    """The hosts that an admin allows: `host`, `host:port`, `*.example.org` or `*`."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._texts = [entry.strip() for entry in entries if entry.strip()]
        self._entries = [_parse(entry) for entry in self._texts]

    def reach_of(self, host: str, port: int) -> Reach:
        """Return how far a host may lead: only one that is named as it is may have an address that is not public."""
        host = _plain(host)
        found = [entry for entry in self._entries if entry.matches(host, port)]
        if not found:
            return "none"
        return "public" if all(entry.is_wildcard for entry in found) else "any"

    def with_hosts(self, hosts: Iterable[tuple[str, int]]) -> list[str]:
        """Return the entries that name these hosts, too, each at its port; the usual ports are left out."""
        return list(dict.fromkeys([*self._texts, *(_entry_of(host, port) for host, port in hosts)]))


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to one host on the internet: not private, local, shared or reserved.

    IPv4 addresses inside IPv6 ones (mapped, 6to4, NAT64) count as what they hold. What is not an address is not public.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = _inside(found)
        if inner is None:
            return found in _UNICAST_V6 and found.is_global and not any(found in net for net in _SPECIAL_V6)
        found = inner
    return found.is_global and not any(found in net for net in _SPECIAL_V4)


def _inside(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for."""
    if address in _NAT64:
        return IPv4Address(int(address) & _NAT64_BITS)
    return address.ipv4_mapped or address.sixtofour


def _entry_of(host: str, port: int) -> str:
    if port in _USUAL_PORTS:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse(entry: str) -> _Entry:
    """Read an entry; IPv6 addresses with a port are in brackets."""
    text = entry.strip()
    host, port = text, ""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, port = text.split(":")
    if not host or "/" in host or "*" in host[1:] or (port and not port.isdecimal()):
        raise ValueError(f"{entry!r} is not a host, host:port, *.domain or *")
    is_wildcard = host.startswith("*")
    if is_wildcard and host != "*" and not host.startswith("*."):
        raise ValueError(f"{entry!r}: a star means the whole beginning of a name, as in *.example.org")
    return _Entry(_plain(host.removeprefix("*")), int(port) if port else None, is_wildcard)


def _plain(host: str) -> str:
    """Return a host as it is compared: lower case, names in ASCII, addresses in their short form, no dot at the end."""
    host = host.lower().removesuffix(".")
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return host
