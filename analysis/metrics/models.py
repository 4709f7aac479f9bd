"""Neural models by ONNX Runtime: texts to tokens, sequences of tokens to batches, batches to what the model says.

No text is cut: what does not fit is read in windows (`windows`), and kinds of metrics say how many texts were.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from analysis.metrics.folders import MODEL, TOKENIZER, ModelFolder, get_folder, longest_input
from campaigns.design.words import segment, unit_of
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing

Floats = NDArray[np.float64]

# Bounds of one batch, whatever its number of sequences: tokens, and numbers that the model returns (256 MB).
_MOST_TOKENS = 4_096
_MOST_NUMBERS = 64_000_000
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_N_NEEDED_INPUTS = 2
_USUAL_TOKENS = {
    "mask_token": ("<mask>", "[MASK]"),
    "cls_token": ("<s>", "[CLS]"),
    "sep_token": ("</s>", "[SEP]"),
    "eos_token": ("<|endoftext|>", "</s>", "[SEP]"),
    "pad_token": ("<pad>", "[PAD]"),
}
_ROLES = {"sep_token": ("sep_token", "eos_token"), "eos_token": ("eos_token", "sep_token")}


@dataclass(frozen=True)
class TokenRow:
    """Tokens as a model reads them, with the segment of each if the model distinguishes a first text from a second."""

    ids: Sequence[int]
    types: Sequence[int] = ()


@dataclass(frozen=True)
class Question:
    """What is asked of a language model: how likely the `targets` are, as it predicts them at these `places`."""

    ids: Sequence[int]
    places: Sequence[int]
    targets: Sequence[int]


def windows(n_tokens: int, room: int) -> list[slice]:
    """Return windows of at most `room` tokens that cover `n_tokens`; each overlaps the one before by half or more.

    The last one ends with the last token and is as long as the others. Without tokens there is one empty window.

    Examples
    --------
    >>> windows(3, 4)
    [slice(0, 3, None)]
    >>> windows(9, 4)
    [slice(0, 4, None), slice(2, 6, None), slice(4, 8, None), slice(5, 9, None)]
    """
    if room < 1:
        raise ValueError(f"a window needs room for a token, not {room}")
    if n_tokens <= room:
        return [slice(0, n_tokens)]
    starts = [*range(0, n_tokens - room, max(room // 2, 1)), n_tokens - room]
    return [slice(start, start + room) for start in starts]


class Model:
    """A model of a folder, with its tokenizer. `longest`: how many tokens it reads at once, at most.

    `load` it; the batches have at most `settings.MODEL_BATCH` sequences, and fewer if these are long.
    """

    def __init__(self, folder: ModelFolder, session: Any, tokenizer: Any) -> None:
        self.folder, self.name = folder, folder.name
        self._session, self._tokenizer = session, tokenizer
        self._config, self._special = folder.read_config(), folder.read_special_tokens()
        self._inputs = {each.name: each.type for each in session.get_inputs()}
        self._shapes: dict[str, Sequence[Any]] = {each.name: each.shape for each in session.get_outputs()}
        self.outputs = list(self._shapes)
        self._check_inputs()
        longest = longest_input(self._config, self._special)
        if longest is None:
            raise folder.error(
                "neither config.json (max_position_embeddings) nor tokenizer_config.json (model_max_length) says how "
                "many tokens it reads at most. Add one of them."
            )
        self.longest = longest
        tokenizer.no_padding()
        tokenizer.no_truncation()

    def _check_inputs(self) -> None:
        unknown = [name for name in self._inputs if name not in _KNOWN_INPUTS]
        missing = [name for name in _KNOWN_INPUTS[:_N_NEEDED_INPUTS] if name not in self._inputs]
        if unknown or missing:
            said = f"it wants the inputs {listing(unknown, 5)}, which texts do not give" if unknown else ""
            said = said or f"it has no input {listing(missing)}"
            raise self.folder.error(
                f"{said}. Inputs are to be {listing(_KNOWN_INPUTS[:_N_NEEDED_INPUTS])}, and may be "
                f"{listing(_KNOWN_INPUTS[_N_NEEDED_INPUTS:])}. Export it with the task of the metric, and without "
                "“-with-past”."
            )
        if odd := [name for name, kind in self._inputs.items() if kind not in _INTEGERS]:
            raise self.folder.error(f"its inputs {listing(odd)} are not whole numbers.")

    # --- Texts to tokens

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without special ones."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def encode_words(self, text: str) -> tuple[list[int], list[list[int]]]:
        """Return the tokens of a text, and for each word the places of its own.

        Words are divided at white space; in languages that are written without it, each character is one.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        parts = segment(text, unit_of(text))
        lengths = [len(part) for pair in zip(parts.gaps, parts.units, strict=False) for part in pair]
        ends = np.cumsum(lengths)[1::2]
        # A token may begin with the space before its word, so that its end says whose it is.
        word = np.searchsorted(ends, [end for _, end in encoding.offsets])
        places: list[list[int]] = [[] for _ in ends]
        for place, number in enumerate(np.minimum(word, len(ends) - 1).tolist()):
            if places:
                places[number].append(place)
        return encoding.ids, [own for own in places if own]

    def encode_pair(self, first: str, second: str) -> list[TokenRow]:
        """Return two texts as the model was trained to read them together, the first in windows if it is long.

        Nothing if the second does not leave room for the first.
        """
        whole = self._tokenizer.encode(first, second)
        n_first, n_second = len(self.encode(first)), len(self.encode(second))
        room = self.longest - (len(whole.ids) - n_first - n_second) - n_second
        if len(whole.ids) <= self.longest:
            return [TokenRow(whole.ids, whole.type_ids)]
        if room < 1:
            return []
        stride = room - max(room // 2, 1)
        self._tokenizer.enable_truncation(self.longest, stride=stride, strategy="only_first")
        try:
            found = self._tokenizer.encode(first, second)
        finally:
            self._tokenizer.no_truncation()
        return [TokenRow(each.ids, each.type_ids) for each in (found, *found.overflowing)]

    def special(self, role: str) -> int:
        """Return the token of a role, such as `mask_token`; raise DomainError `bad_model` if there is none."""
        for each in _ROLES.get(role, (role,)):
            said = self._special.get(each)
            said = said.get("content") if isinstance(said, dict) else said
            number = self._config.get(f"{each}_id")
            if said and (found := self._tokenizer.token_to_id(said)) is not None:
                return int(found)
            if isinstance(number, int):
                return number
        for usual in _USUAL_TOKENS[role]:
            if (found := self._tokenizer.token_to_id(usual)) is not None:
                return int(found)
        raise self.folder.error(
            f"its tokenizer has no {role.replace('_', ' ')}. Choose a model of the kind that the metric needs."
        )

    # --- Tokens to numbers

    def require(self, output: str, task: str) -> None:
        """Raise DomainError `bad_model` if the model does not have an output, for which `task` exports it."""
        if output not in self.outputs:
            raise self.folder.error(
                f"it has no output “{output}”, but {listing(self.outputs, 5)}. Export it for this metric: "
                f"optimum-cli export onnx --model … --task {task} {self.name}"
            )

    def run(self, rows: Iterable[TokenRow], output: str) -> Iterator[NDArray[Any]]:
        """Yield what the model says of each sequence, in order: without the padding of its batch.

        Raises DomainError `bad_model` if it cannot read them.
        """
        for batch in self._batches(rows, self._width(output)):
            found = self._call(batch, output)
            if found.shape[0] != len(batch):
                raise self.folder.error(f"“{output}” has the shape {found.shape} for {len(batch)} sequences.")
            for row, own in zip(batch, found, strict=True):
                yield own[: len(row.ids)] if own.ndim > 1 else own

    def log_likelihoods(self, questions: Iterable[Question]) -> Iterator[float]:
        """Yield the sum of ln P of the targets of each question, in order.

        Raises DomainError `bad_model` if the model gives no logits for each token.
        """
        asked: list[Question] = []

        def rows() -> Iterator[TokenRow]:
            for question in questions:
                asked.append(question)
                yield TokenRow(question.ids)

        for logits in self.run(rows(), "logits"):
            question = asked.pop(0)
            if logits.ndim != 2 or logits.shape[1] <= max(question.targets, default=0):
                raise self.folder.error(
                    f"its logits have the shape {logits.shape}, and not one number for each of the "
                    f"{self._tokenizer.get_vocab_size():,} tokens of its vocabulary at each place. The tokenizer is "
                    "another model's, or the model is not a language model."
                )
            yield _log_likelihood(logits[list(question.places)].astype(np.float64), list(question.targets))

    def _width(self, output: str) -> int:
        """Return how many numbers the model gives for a token."""
        last = self._shapes[output][-1:]
        known = self._config.get("vocab_size" if output == "logits" else "hidden_size")
        found = next((each for each in (*last, known) if isinstance(each, int)), self._tokenizer.get_vocab_size())
        return max(found, 1)

    def _batches(self, rows: Iterable[TokenRow], width: int) -> Iterator[list[TokenRow]]:
        """Yield the sequences in their order, in batches whose size is bounded."""
        most = min(_MOST_TOKENS, _MOST_NUMBERS // width)
        batch: list[TokenRow] = []
        longest = 0
        for row in rows:
            if len(row.ids) > self.longest:
                raise ValueError(f"{len(row.ids)} tokens for a model of {self.longest}")
            longest = max(longest, len(row.ids))
            if batch and (len(batch) >= settings.MODEL_BATCH or (len(batch) + 1) * longest > most):
                yield batch
                batch, longest = [], len(row.ids)
            batch.append(row)
        if batch:
            yield batch

    def _call(self, batch: Sequence[TokenRow], output: str) -> NDArray[Any]:
        shape = len(batch), max(1, *(len(row.ids) for row in batch))
        fed = {name: np.zeros(shape, _INTEGERS[kind]) for name, kind in self._inputs.items()}
        fed["input_ids"][:] = self._padding
        if "position_ids" in fed:
            fed["position_ids"][:] = np.arange(shape[1])
        for k, row in enumerate(batch):
            n = len(row.ids)
            fed["input_ids"][k, :n] = row.ids
            fed["attention_mask"][k, :n] = 1
            if "token_type_ids" in fed and row.types:
                fed["token_type_ids"][k, :n] = row.types
        try:
            found: NDArray[Any] = np.asarray(self._session.run([output], fed)[0])
        except Exception as error:  # the runtime's errors have no common class but this
            raise self.folder.error(f"it cannot read {shape[0]} × {shape[1]} tokens ({_first_line(error)}).") from error
        return found

    @property
    def _padding(self) -> int:
        try:
            return self.special("pad_token")
        except DomainError:
            return 0  # GPT-2 has none; the attention mask hides it


def _log_likelihood(logits: Floats, targets: list[int]) -> float:
    highest = logits.max(axis=1, initial=-np.inf)
    log_sum = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=1))
    return float((logits[np.arange(len(targets)), targets] - log_sum).sum())


def load_model(name: str) -> Model:
    """Load a model by the name of its folder; it runs on the processor.

    Raises ImportError if the extra `neural` is not installed, DomainError `bad_model` if the folder cannot be used.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    folder = get_folder(name)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # it would keep the memory of the largest batch of each length
    # Threads that wait would otherwise keep a processor busy that the web process may need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
    except Exception as error:
        raise folder.error(f"{TOKENIZER} cannot be read ({_first_line(error)}).") from error
    try:
        session = onnxruntime.InferenceSession(
            str(folder.path / MODEL), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise folder.error(f"{MODEL} cannot be loaded ({_first_line(error)}).") from error
    return Model(folder, session, tokenizer)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
