"""What the first requests after a start would wait for: modules of all pages, and templates, of letters too."""

from contextlib import suppress
from pathlib import Path

from django.template import TemplateDoesNotExist, TemplateSyntaxError, engines
from django.template.loader import get_template
from django.urls import get_resolver

from evalsite.jobs.discovery import load_handlers
from evalsite.lib.late import import_all
from evalsite.lib.plugins import load_registered


def warm_pages() -> None:
    """Import views, job handlers and plug-ins, and compile all templates; a bad one raises when it is shown."""
    _ = get_resolver().reverse_dict  # of all names
    import_all()
    load_handlers()
    load_registered()
    for folder in map(Path, engines["django"].engine.dirs):  # type: ignore[attr-defined]
        for path in filter(Path.is_file, folder.rglob("*")):
            with suppress(TemplateDoesNotExist, TemplateSyntaxError, UnicodeDecodeError):
                get_template(path.relative_to(folder).as_posix())
