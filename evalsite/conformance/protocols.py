"""What every protocol does: what it presets fits together, and gives no check away."""

import re

from campaigns.contracts.protocol import Protocol, Scope
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.formats import get_format
from campaigns.methods import methods
from campaigns.responses import check_settings, get_response_kind
from evalsite.conformance.faults import check_names, require

# Words by which a worker could look for items that test them.
_HINTS = re.compile(
    r"\b(degraded|repeat(ed|s)?|attention checks?|quality.control|gold|traps?|catch trials?|fake|tested)\b",
    re.IGNORECASE,
)


def check_protocol(protocol: type[Protocol]) -> None:
    """Raise ConformanceError if a protocol does not preset a campaign that can be made and analysed."""
    check_names(protocol, "title", "summary", "instructions")
    for slug in protocol.screen.formats:
        get_format(slug)
    fields = protocol.screen.field_names
    named = {protocol.screen.reference_field, protocol.screen.donor_field, *(f.marks for f in protocol.screen.fields)}
    require(named <= {"", *fields}, protocol, f"it names a field that there is not: {sorted(named - {'', *fields})}.")
    require(bool(protocol.criteria), protocol, "it asks nothing. Give it a criterion.")
    before: dict[str, str] = {}
    for each in protocol.criteria:
        check_settings(each.response, each.settings)
        Scope(each.scope)
        require(not each.shown_on or each.shown_on in before, protocol, f"“{each.name}” follows none before it.")
        before[each.name] = each.scope
    require(len(before) == len(protocol.criteria), protocol, "two criteria have one name.")
    found = re.search(_HINTS, protocol.instructions)
    require(found is None, protocol, f"the instructions say “{found[0] if found else ''}”: a hint at checks.")
    method = methods[protocol.method]
    kinds = [(get_response_kind(each.response), each.settings) for each in protocol.criteria]
    reads = any(method.reads(kind, check_settings(kind.slug, settings)) for kind, settings in kinds)
    require(reads, protocol, f"“{protocol.method}” reads none of its criteria. Name a method that does.")
    is_known = protocol.worker_test in (NO_TEST, *WORKER_TESTS)
    require(is_known, protocol, f"there is no worker test “{protocol.worker_test}”.")
    tested = [
        kind.is_testable(settings)
        for (kind, settings), each in zip(kinds, protocol.criteria, strict=True)
        if each.is_in_worker_test
    ]
    require(protocol.worker_test == NO_TEST or any(tested), protocol, "no criterion says anything in its worker test.")
