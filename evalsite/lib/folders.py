"""Where the program's own files are, and by default its data: in a checkout, or installed from a wheel."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
# A wheel has templates, static files, guides and examples in the package (setup.py); a checkout has them beside it.
IS_INSTALLED = (_PACKAGE / "files").is_dir()
SITE_FILES = _PACKAGE / "files" if IS_INSTALLED else _PACKAGE.parent

# In a checkout these packages lie at the top, in a wheel in `evalsite` (setup.py): their names are not ours alone.
APPS = frozenset(("campaigns", "annotation", "analysis", "crowd", "api", "desk", "simulators"))


def default_data_folder() -> Path:
    """Return where data are kept if EVALSITE_DATA is not set: `var` in a checkout, else below the user's home."""
    if not IS_INSTALLED:
        return SITE_FILES / "var"
    shared = os.environ.get("XDG_DATA_HOME", "")
    return (Path(shared) if Path(shared).is_absolute() else Path.home() / ".local/share") / "evalsite"
