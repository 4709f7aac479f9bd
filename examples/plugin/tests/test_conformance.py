"""Every plug-in of the package does what its contract promises."""

from evalsite_thumbs.approval import Approval
from evalsite_thumbs.classroom import Classroom
from evalsite_thumbs.poem import Poem
from evalsite_thumbs.thumbs import Thumbs

from evalsite.conformance import check

ANSWERS = [
    {"worker": f"w{worker}", "system": system, "source": f"s{source}", "score": int((worker + source) % 4 < good)}
    for worker in range(5)
    for source in range(6)
    for system, good in (("alpha", 3), ("beta", 2), ("gamma", 1))
]


def test_the_response_kind() -> None:
    check(Thumbs)


def test_the_response_method() -> None:
    check(Approval, rows=ANSWERS)


def test_the_format() -> None:
    check(Poem, values=["Roses are red,\n  violets are blue\n\n\nand so on"])


def test_the_platform() -> None:
    check(Classroom, settings=[{}, {"n_students": 30}])
