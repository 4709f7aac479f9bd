"""What all pages of the site share: their version, static files, the limit of uploads, devices that they never use."""

import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django import forms
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from whitenoise.storage import CompressedManifestStaticFilesStorage

from evalsite.lib.context import current_work
from evalsite.lib.env import ask_to_set
from evalsite.lib.outages import outage_of
from evalsite.lib.version import __version__


def version(request: HttpRequest) -> dict[str, str]:
    """Return the version of evalsite."""
    return {"evalsite_version": __version__}


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page of a failure, with the id of the request, which is beside the traceback in the log.

    While the disk is full or the database is away, the page says so.
    """
    outage = outage_of(sys.exception())
    page = render_to_string("500.html", {"request_id": current_work().request_id, "outage": outage})
    return HttpResponse(page, status=outage.status if outage else 500)


def guard_pages(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Say with each page that it uses none of DENIED_DEVICES and no window that others opened. Middleware.

    Other responses can do neither, and each byte costs time on a slow line.
    """
    policy = ", ".join(f"{name}=()" for name in settings.DENIED_DEVICES)

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers["Permissions-Policy"] = policy
            response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return response

    return respond


class PolicyMiddleware(CSPMiddleware):
    """Make a Content Security Policy for responses that have none: making it takes a tenth of the time of an image."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the policy."""
        return response if response.has_header(HEADER) else super().process_response(request, response)


_COMMENTS = {
    ".css": re.compile(r"/\*.*?\*/", re.DOTALL),
    # Those that have lines of their own, types, and at the ends of lines those without quotes: a string may hold the
    # same signs.
    ".js": re.compile(
        r"""^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*$|//.*$)|/\*\* @type [^*\n]*\*/ |[ \t]// [^"'`/\n]*$""",
        re.MULTILINE,
    ),
}
# No string in our style sheets has these signs.
_CSS_GAPS = re.compile(r"\s*([{};,])\s*")
_CSS_IMPORT = re.compile(r'@import url\("([\w.]+)"\);')


def shorten(text: str, suffix: str) -> str:
    """Return a style sheet or a script of ours without most comments, blank lines and indents, a sheet in few lines."""
    text = _COMMENTS[suffix].sub("", text)
    if suffix == ".css":
        text = _CSS_GAPS.sub(r"\1", text)
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


class InlineScript(NamedTuple):
    """A script that is part of a page, and what the page's Content Security Policy must name to allow it."""

    code: str
    source: str


@cache
def inline_script(name: str) -> InlineScript:
    """Return one of our scripts for use within pages, shortened: a file of its own is a request more."""
    code = shorten((settings.BASE_DIR / "static" / name).read_text(), ".js")
    digest = b64encode(sha256(code.encode()).digest()).decode()
    return InlineScript(code, f"'sha256-{digest}'")


class _Shortened(FileSystemStorage):
    """A folder of static files, of which our own are read shortened: each byte costs a worker on a slow line."""

    def open(self, name: str, mode: str = "rb") -> File:
        """Open a file for reading."""
        file = super().open(name, mode)
        suffix = Path(name).suffix
        if suffix not in _COMMENTS or Path(self.location) != settings.BASE_DIR / "static":
            return file
        with file:
            text = shorten(file.read().decode(), suffix)
        # A sheet that is imported whole is part of the one that does: it takes no request of its own.
        text = _CSS_IMPORT.sub(lambda found: self.open(f"{Path(name).parent}/{found[1]}").read().decode(), text)
        return ContentFile(text.encode(), name)


class ManifestStaticStorage(CompressedManifestStaticFilesStorage):
    """Content-hashed names, also inside `import` lines of JavaScript modules; our own files without comments."""

    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._urls: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """Return the address of a file, worked out once a process: each page has several."""
        if settings.DEBUG or force:
            return super().url(name, force)
        if name not in self._urls:
            self._urls[name] = super().url(name)
        return self._urls[name]

    def post_process(
        self, paths: Mapping[str, tuple[FileSystemStorage, str]], *args: Any, **options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        """Name, adjust and compress the files."""
        ours = {name: (_Shortened(storage.location), path) for name, (storage, path) in paths.items()}
        yield from super().post_process(ours, *args, **options)

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress the files that pages ask for, whose names have a hash: it takes seconds at each start."""
        yield from super().compress_files({*paths} & {*self.hashed_files.values()})

    def save_manifest(self) -> None:
        """Write the names of the files, and forget their addresses of before."""
        super().save_manifest()
        self._urls.clear()


class SizeLimit(FileUploadHandler):
    """Drop what comes after MAX_UPLOAD_MB; the file still arrives over the limit, so its form can say so."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Pass the chunk on, unless the limit lies before it."""
        return raw_data if start <= settings.MAX_UPLOAD_MB * 2**20 else None

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the handlers that keep it."""


class FilesInput(forms.FileInput):
    """Takes any number of files."""

    allow_multiple_selected = True


class SizedFileField(forms.FileField):
    """A file of at most MAX_UPLOAD_MB; `advice` says what to do with a larger one."""

    def __init__(self, *, advice: str, **options: Any) -> None:
        super().__init__(**options)
        self.advice = advice

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Refuse a file over the limit, saying both sizes."""
        file = super().clean(data, initial)
        size_mb, limit = ((file.size or 0) if file else 0) / 2**20, settings.MAX_UPLOAD_MB
        if size_mb > limit:
            missing = ask_to_set("MAX_UPLOAD_MB", str(ceil(size_mb)))
            message = f"The file has {size_mb:.0f} MB and the limit is {limit} MB. {self.advice} Or: {missing}"
            raise forms.ValidationError(message, code="too_large")
        return file


class SizedFilesField(SizedFileField):
    """Any number of such files; a list, [] for none."""

    widget = FilesInput({"multiple": True})

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Refuse each file over the limit, and none if there must be one."""
        return [super(SizedFilesField, self).clean(each, initial) for each in data or ([None] if self.required else ())]
