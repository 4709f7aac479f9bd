"""Chatbots that are classes: made once, asked in threads that nobody waits for longer than they want.

A thread cannot be stopped. One whose chatbot does not answer is left behind, and each chatbot may keep so many.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from campaigns.contracts.connector import ConnectorError
from evalsite.lib.http import Deadline
from evalsite.lib.plugins import load

_MOST_CHATBOTS, MOST_THREADS = 16, 64
_LONGEST_MESSAGE = 300


class Chatbot:
    """A class with its arguments; its instance is made when it is first asked, and again if that has failed."""

    def __init__(self, path: str, arguments: Mapping[str, Any]) -> None:
        self._path = path
        self._arguments = arguments
        self._instance: Any = None
        self._making = threading.Lock()
        self._places = threading.BoundedSemaphore(MOST_THREADS)

    def ask(self, call: Callable[[Any], Any], timeout_s: float) -> Any:
        """Return what `call` makes of the instance, in another thread.

        Raises ConnectorError: `timeout` if that takes longer, `failed` with the type and message of an exception.
        """
        deadline = Deadline(timeout_s)
        if not self._places.acquire(timeout=timeout_s):
            raise ConnectorError("timeout", f"All {MOST_THREADS} threads of this chatbot are busy with other replies.")
        answer: list[Any] = []
        errors: list[BaseException] = []
        is_done = threading.Event()

        def run() -> None:
            try:
                answer.append(call(self._made()))
            except BaseException as error:  # an exit, too, is the chatbot's and not this thread's alone
                errors.append(error)
            finally:
                self._places.release()
                is_done.set()

        try:
            threading.Thread(target=run, name=f"chatbot {self._path}", daemon=True).start()
        except RuntimeError:  # the machine has no thread left
            self._places.release()
            raise ConnectorError("failed", "No thread could be started.") from None
        if not is_done.wait(deadline.left_s):
            raise ConnectorError("timeout", f"There was no reply within {timeout_s:g} s.")
        if errors:
            raise ConnectorError("failed", _words(errors[0]))
        return answer[0]

    def _made(self) -> Any:
        with self._making:
            if self._instance is None:
                self._instance = load(self._path)(**self._arguments)
            return self._instance


_chatbots: OrderedDict[tuple[str, str], Chatbot] = OrderedDict()
_lock = threading.Lock()


def chatbot_of(path: str, text: str, arguments: Mapping[str, Any]) -> Chatbot:
    """Return the chatbot of a class and its arguments, `text` as they are written: always the same one.

    The process keeps the 16 that were asked last.
    """
    with _lock:
        found = _chatbots.setdefault((path, text), Chatbot(path, arguments))
        _chatbots.move_to_end((path, text))
        if len(_chatbots) > _MOST_CHATBOTS:
            _chatbots.popitem(last=False)
    return found


def _words(error: BaseException) -> str:
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return words if len(words) <= _LONGEST_MESSAGE else words[:_LONGEST_MESSAGE] + "…"
