"""Sets that are kept on disk: which texts are new."""

from evalsite.lib.disk_sets import DiskSet


def test_a_text_is_new_once_in_each_set() -> None:
    with DiskSet() as seen, DiskSet() as other:
        assert [seen.add(text) for text in ("1 2", "12", "1 2", "", "", "é")] == [True, True, False, True, False, True]
        assert other.add("1 2")


def test_texts_that_are_added_together_are_new_as_those_added_one_by_one() -> None:
    texts = ["1", "é", "1", "", '"', "2", "\N{SNOWMAN}", "2", ""]
    with DiskSet() as seen, DiskSet() as one_by_one:
        assert seen.add("2") and one_by_one.add("2")
        assert seen.add_all(texts) == list(map(one_by_one.add, texts))
        assert not any(seen.add_all(texts)) and seen.add_all([]) == []


def test_a_set_knows_texts_that_are_no_longer_in_memory() -> None:
    with DiskSet() as seen:
        texts = [f"{k % 50} {k:01000}" for k in range(20_000)]  # 20 MB, more than is kept
        assert all(map(seen.add, texts))
        assert not any(map(seen.add, texts))
