"""Folders of neural models, as exported by Optimum: which there are, and what is missing in one.

They lie in the folder of `settings.EVALSITE_MODELS`, where an administrator puts them. Nothing is downloaded.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings

from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing
from evalsite.lib.words import listed

MODEL, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "config.json"
_NEEDED = (MODEL, TOKENIZER, CONFIG)
_OPTIONAL = ("special_tokens_map.json", "tokenizer_config.json")
_LIBRARIES = {"onnxruntime": "ONNX Runtime", "tokenizers": "tokenizers"}
_LONGEST_LENGTH = 1_000_000  # tokenizers that know no limit name 10³⁰

# Models whose positions begin after that of the padding, and so have that many fewer than their configuration says.
_POSITIONS_AFTER_PADDING = frozenset(
    [
        "camembert",
        "data2vec-text",
        "ibert",
        "longformer",
        "mpnet",
        "roberta",
        "roberta-prelayernorm",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    ]
)


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model; `missing` names the files that it lacks."""

    name: str
    path: Path
    missing: tuple[str, ...] = ()

    def require(self) -> None:
        """Raise DomainError `bad_model` if a file is missing."""
        if self.missing:
            raise self.error(
                f"{listed(self.missing)} {'is' if len(self.missing) == 1 else 'are'} missing. Export the model again: "
                f"optimum-cli export onnx --model … {self.name}"
            )

    def error(self, message: str) -> DomainError:
        """Return the error that says what is wrong with this folder."""
        return DomainError("bad_model", f"The model folder “{self.name}” cannot be used: {message}")

    def read_config(self) -> dict[str, Any]:
        """Return the configuration of the model; raise DomainError `bad_model` if it cannot be read."""
        return self._read(CONFIG)

    def read_special_tokens(self) -> dict[str, Any]:
        """Return the special tokens by role, such as `mask_token`, and the tokenizer's other settings."""
        found: dict[str, Any] = {}
        for name in reversed(_OPTIONAL):
            if (self.path / name).is_file():
                found |= self._read(name)
        return found

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise self.error(f"{name} is not JSON ({error}).") from None
        if not isinstance(found, dict):
            raise self.error(f"{name} is not a JSON object.")
        return found


def list_folders() -> list[ModelFolder]:
    """Return the model folders by name: every folder that does not begin with a dot, complete or not."""
    try:
        paths = sorted(path for path in Path(settings.EVALSITE_MODELS).iterdir() if path.name[0] != ".")
    except OSError:
        return []
    return [
        ModelFolder(path.name, path, tuple(name for name in _NEEDED if not (path / name).is_file()))
        for path in paths
        if path.is_dir()
    ]


def list_models() -> list[str]:
    """Return the names of the model folders that lack no file."""
    return [folder.name for folder in list_folders() if not folder.missing]


def get_folder(name: str) -> ModelFolder:
    """Return the model folder of this name; raise DomainError `bad_model` if there is none, or a file is missing.

    The name is looked up in the list: it is never a part of a path.
    """
    known = {folder.name: folder for folder in list_folders()}
    if name not in known:
        there = f"There are {listing(known)}." if known else "There is none yet."
        raise DomainError("bad_model", f"There is no model folder “{name}”. {there} {_WHERE}")
    known[name].require()
    return known[name]


_WHERE = (
    "An administrator exports a model with optimum-cli and puts its folder into the folder of the setting "
    "EVALSITE_MODELS: see “Neural metrics” in the guide."
)


def missing_libraries() -> str:
    """Return what has to be installed before any model can be used; empty if nothing is."""
    libraries = [title for module, title in _LIBRARIES.items() if find_spec(module) is None]
    if not libraries:
        return ""
    return (
        f"It needs {listed(libraries)}, which {'is' if len(libraries) == 1 else 'are'} not installed here. An "
        "administrator can install the extra: pip install 'evalsite[neural]'."
    )


def what_is_missing() -> str:
    """Return what has to be installed or put where before any model can be used; empty if nothing is."""
    if libraries := missing_libraries():
        return libraries
    folders = list_folders()
    if not folders:
        return f"It needs a model folder, and there is none. {_WHERE}"
    if all(folder.missing for folder in folders):
        first = folders[0]
        return f"No model folder is complete: “{first.name}” lacks {listed(first.missing)}. {_WHERE}"
    return ""


def longest_input(config: dict[str, Any], tokenizer: dict[str, Any]) -> int | None:
    """Return how many tokens a model reads at most, by its configuration and its tokenizer's; None if neither says."""
    positions = next((n for key in ("max_position_embeddings", "n_positions") if (n := _length(config.get(key)))), 0)
    if positions and config.get("model_type") in _POSITIONS_AFTER_PADDING:
        positions -= int(config.get("pad_token_id") or 0) + 1
    said = [n for n in (positions, _length(tokenizer.get("model_max_length"))) if n > 0]
    return min(said, default=None)


def _length(value: Any) -> int:
    """Return a number of tokens; 0 if it is none, or means that there is no limit."""
    return int(value) if isinstance(value, int | float) and 0 < value <= _LONGEST_LENGTH else 0
