"""Files that others may read while they are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Give a path to write to, whose file becomes the one at `path` in one step, at the end and only without an error.

    The folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{uuid4().hex}{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
