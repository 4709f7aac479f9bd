"""Datasets of the Hugging Face Hub, by the package datasets."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted, listed

PREFIX = "hf://"
"""How the name of a dataset begins: `hf://owner/name`, then a split, a configuration and a split, or a file."""


def read_hub(name: str) -> Any:
    """Return a Dataset by its name: `hf://owner/name`, `…/split`, `…/configuration/split` or `…/folder/file.csv`.

    The package datasets downloads and keeps it. A configuration or split need not be named where there is only one. A
    split may be what `load_dataset` takes: `train+test`, `train[:100]`.

    Raises
    ------
    DomainError
        `no_library`, `bad_name`, `no_connection`; `no_dataset` if the Hub has none that may be read; `no_such_part` and
        `several_parts` (one has to be named) with the configurations or splits that there are.
    """
    try:
        import datasets
    except ImportError:
        raise DomainError("no_library", f"{name} needs the package datasets: pip install datasets.") from None
    parts = [part for part in name.removeprefix(PREFIX).removeprefix("datasets/").split("/") if part]
    if len(parts) < 2:
        raise DomainError(
            "bad_name", f"{name} names no dataset. Write {PREFIX}owner/name, or {PREFIX}owner/name/split."
        )
    dataset, wanted = "/".join(parts[:2]), parts[2:]
    try:
        if wanted and PurePosixPath(wanted[-1]).suffix:
            return datasets.load_dataset(dataset, data_files="/".join(wanted), split="train")
        configuration, split = _find(dataset, wanted, datasets)
        return datasets.load_dataset(dataset, configuration, split=split)
    except FileNotFoundError as error:  # DatasetNotFoundError and DataFilesNotFoundError of datasets, too
        what = f"{dataset}: {'/'.join(wanted)}" if wanted else dataset
        raise DomainError(
            "no_dataset",
            f"There is no dataset {what} that may be read. Check its name; for a private one sign in: hf auth login.",
        ) from error
    except ConnectionError as error:
        raise DomainError("no_connection", f"The Hub does not answer, so {name} cannot be read now.") from error


def _find(dataset: str, wanted: Sequence[str], datasets: Any) -> tuple[str, str]:
    """Return the configuration and the split that are meant; raise DomainError with those there are."""
    configurations = datasets.get_dataset_config_names(dataset)
    where, rest = dataset, list(wanted)
    if len(configurations) > 1 or rest[1:]:
        _check(where, "configuration", configurations, rest[:1])
        where, configurations = f"{dataset}/{rest[0]}", [rest.pop(0)]
    splits = datasets.get_dataset_split_names(dataset, configurations[0])
    if len(splits) > 1 or rest:
        _check(where, "split", splits, re.sub(r"\[[^]]*\]", "", "/".join(rest)).split("+") if rest else [])
    return configurations[0], "/".join(rest) or splits[0]


def _check(where: str, kind: str, there: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise DomainError unless something is wanted, and is there."""
    names = listed(there)
    if not wanted:
        raise DomainError(
            "several_parts", f"{where} has {counted(len(there), kind)}: {names}. Name one: {PREFIX}{where}/{there[0]}."
        )
    for name in wanted:
        if name not in there:
            raise DomainError("no_such_part", f"{where} has no {kind} “{name}”. It has {names}.")
