"""Results of functions, kept up to a number of bytes."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from evalsite.lib.caches import byte_cache


@pytest.fixture
def double():
    """A function that is kept up to 100 bytes, each result as large as it is long, and the calls that it got."""
    calls: list[str] = []

    @byte_cache(100, lambda result, text: len(result))
    def twice(text: str) -> str:
        """Say it twice."""
        calls.append(text)
        if text == "bad":
            raise ValueError(text)
        return text * 2

    return twice, calls


def test_what_was_asked_for_last_is_kept_up_to_the_bound(double) -> None:
    twice, calls = double
    a, b, c = "a" * 20, "b" * 20, "c" * 20
    assert [twice(text) for text in (a, b, a)] == [a * 2, b * 2, a * 2]
    assert (calls, twice.n_bytes) == ([a, b], 80)
    twice(c)  # takes the place of b, which was asked for before a
    twice(a)
    assert (calls, twice.n_bytes) == ([a, b, c], 80)
    twice(b)
    assert calls == [a, b, c, b]


def test_a_result_over_the_bound_is_not_kept_and_displaces_nothing(double) -> None:
    twice, calls = double
    small, large = "s" * 50, "l" * 51
    assert [len(twice(text)) for text in (small, large, large, small)] == [100, 102, 102, 100]
    assert (calls, twice.n_bytes) == ([small, large, large], 100)


def test_errors_are_not_kept_and_all_can_be_forgotten(double) -> None:
    twice, calls = double
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            twice("bad")
    twice("x")
    twice.cache_clear()
    assert twice.n_bytes == 0
    twice("x")
    assert calls == ["bad", "bad", "x", "x"]
    assert (twice.__name__, twice.__doc__) == ("twice", "Say it twice.")


def test_options_are_part_of_what_is_asked_for() -> None:
    @byte_cache(1000, lambda result, *args: 1)
    def scaled(x: int, *, by: int = 1, plus: int = 0) -> int:
        return x * by + plus

    assert (scaled(2, by=3), scaled(2, by=4), scaled(2, plus=1, by=3), scaled(2, by=3, plus=1)) == (6, 8, 7, 7)
    assert scaled.n_bytes == 3


def test_threads_share_it_and_the_bound_holds() -> None:
    barrier = threading.Barrier(8)

    @byte_cache(50, lambda result, n: 10)
    def square(n: int) -> int:
        return n * n

    def work(k: int) -> list[int]:
        barrier.wait()
        return [square((k + n) % 12) for n in range(2000)]

    with ThreadPoolExecutor(8) as pool:
        for k, found in enumerate(pool.map(work, range(8))):
            assert found == [((k + n) % 12) ** 2 for n in range(2000)]
    assert square.n_bytes == 50
