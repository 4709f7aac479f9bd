"""Modules that are imported when one of their functions is called."""

from evalsite.lib.late import LateModule


def test_a_function_is_asked_of_its_module_once_however_often_it_is_called() -> None:
    words = LateModule("evalsite.lib.words")
    assert words.counted is words.counted
    assert [words.counted(n, "word") for n in (1, 2)] == ["1 word", "2 words"]
