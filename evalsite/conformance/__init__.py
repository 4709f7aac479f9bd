"""What every plug-in does, whatever it is for: authors of plug-ins run this on theirs, as we do on ours.

    from evalsite.conformance import check

    def test_conformance():
        check(Thumbs)
        check(Scale, settings=[{}, {"labels": "bad\\ngood"}])

No database is needed. Connectors are checked by `tests/conformance/` with a server of their own.
"""

from typing import Any

from analysis.methods import ResponseMethod
from campaigns.contracts.format import ContentFormat
from campaigns.contracts.platform import CrowdPlatform
from campaigns.contracts.protocol import Protocol
from campaigns.contracts.response import ResponseKind
from evalsite.conformance.faults import ConformanceError
from evalsite.conformance.formats import check_format
from evalsite.conformance.methods import check_method
from evalsite.conformance.platforms import check_platform
from evalsite.conformance.protocols import check_protocol
from evalsite.conformance.responses import check_response

__all__ = ["ConformanceError", "check"]
_CHECKS = {
    ContentFormat: check_format,
    ResponseMethod: check_method,
    CrowdPlatform: check_platform,
    Protocol: check_protocol,
    ResponseKind: check_response,
}


def check(plugin: type[Any], **more: Any) -> None:
    """Raise ConformanceError with what is wrong with a plug-in, and how to fix it, if anything is.

    Parameters
    ----------
    plugin : a class of one of the contracts: ContentFormat, ResponseKind, ResponseMethod, CrowdPlatform, Protocol.
    more : examples to check it with. `settings`, a list of mappings, of a response kind or a platform; `values`, a list
        of texts, of a format, and `files` by name of one that takes some; `rows`, a list of mappings, of a response
        method, which needs them.

    Raises
    ------
    ConformanceError
        An AssertionError, so that test tools report it as a failed test.
    TypeError
        If the class fulfils no contract.
    """
    for contract, function in _CHECKS.items():
        if isinstance(plugin, type) and issubclass(plugin, contract):
            function(plugin, **more)  # type: ignore[operator]
            return
    known = ", ".join(contract.__name__ for contract in _CHECKS)
    raise TypeError(f"{plugin!r} is no plug-in that can be checked: it must be a class that extends one of {known}.")
