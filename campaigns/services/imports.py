"""Taking files of sources and outputs in: uploading, saying what columns mean, importing."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid5

from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from campaigns.contracts.protocol import Screen
from campaigns.data_queries import is_importing, read_existing, version_of
from campaigns.formats import has_file_format
from campaigns.importing.appraise import Batch, check_screen, is_batch, read_batch
from campaigns.importing.contents import Contents, notices_of
from campaigns.importing.guessing import guess_layout
from campaigns.importing.layout import APPRAISE, MAX_COLUMNS, FileLayout, check_layout, missing_fields
from campaigns.importing.line_by_line import the_only_table, write_table
from campaigns.importing.nested import find_list, write_unfolded
from campaigns.importing.packed import take_out
from campaigns.importing.tables import read_contents
from campaigns.models import LONGEST_NAME, Campaign, Deletion, Upload
from campaigns.protocols import get_protocol, list_protocols
from campaigns.services.campaigns import (
    change_protocol,
    create_campaign,
    frozen,
    live,
    lock_for_change,
    mark_unbuilt,
)
from campaigns.services.contents import OnProgress, add_contents, add_given_hits, clear_contents
from campaigns.stored_files import CampaignFiles, store_files
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, Problem, TableError, lines_if_windows, preview
from evalsite.lib.tables.archives import read_archive, unpack
from evalsite.lib.tables.errors import whole_file_error
from evalsite.undo.acts import put_aside, restore_rows
from evalsite.undo.models import Act

Mode = Literal["replace", "add"]
_CHUNK = 1 << 20


def upload_outputs(
    *, campaign: Campaign, user: User, upload: UploadedFile, more: Sequence[UploadedFile] = ()
) -> Upload:
    """Keep an uploaded file and guess what its columns mean; its encoding stays open if it is not UTF-8.

    Text files with a line for each segment, given at once (`more`) or in a zip, and JSON in which the outputs of a
    source are a list, are kept as a table of one output a row. Pictures that a table names are given with it, or in a
    zip, and are kept beside it.
    Raises TableError if it is not a table at all, or a faulty batch of Appraise; DomainError `frozen` after the launch,
    `live` where workers meet the systems themselves, `wrong_protocol` for batches that the campaign cannot show,
    `no_files` for pictures where none are shown. Nothing is kept then. The rows of a table are checked by the import.
    """
    if campaign.is_launched:
        raise frozen()
    if campaign.is_live:
        raise live()
    with tempfile.TemporaryDirectory(prefix="outputs-") as folder:
        path, name, packed = _as_table(Path(folder), [upload, *more])
        screen = Screen.from_json(campaign.screen)
        if packed and not has_file_format(screen.formats):
            text = (
                "There are pictures, and neither the output nor a field is one. Choose Image under Layout, then upload."
            )
            raise DomainError("no_files", text)
        layout, summary = _look_at(path, name, screen)
        kept = Upload(
            campaign=campaign,
            name=name[-255:],
            size=path.stat().st_size + (packed.stat().st_size if packed else 0),
            layout=layout.to_json(),
            summary=summary,
            uploaded_by=user,
        )
        with path.open("rb") as content:
            kept.file.save(str(kept.pk), File(content), save=False)
        try:
            if packed:
                with packed.open("rb") as content:
                    kept.packed.save(f"{kept.pk}.zip", File(content), save=False)
            kept.save(force_insert=True)
        except BaseException:
            for file in filter(None, (kept.file, kept.packed)):
                file.delete(save=False)
            raise
    return kept


@transaction.atomic
def start_from_file(
    *, owner: User, upload: UploadedFile, more: Sequence[UploadedFile] = (), form_id: UUID | None = None
) -> Upload:
    """Make a draft, called as the file, that has an uploaded file; its protocol is chosen next (`choose_protocol`).

    The same files sent twice by one form (`form_id`) make one draft. Raises as `upload_outputs`; no draft is made then.
    """
    name = Path(upload.name or "outputs").stem.replace("_", " ") if not more else "Outputs"
    anything = next(each.slug for each in list_protocols() if each.has_open_screen and not each.chat)
    public_id = uuid5(form_id, _digest([upload, *more])) if form_id else None
    campaign = create_campaign(owner=owner, protocol=anything, name=name[:LONGEST_NAME], public_id=public_id)
    return campaign.uploads.last() or upload_outputs(campaign=campaign, user=owner, upload=upload, more=more)


def _digest(uploads: Sequence[UploadedFile]) -> str:
    found = sha256()
    for each in uploads:
        for chunk in each.chunks(_CHUNK):
            found.update(chunk)
        each.seek(0)  # it is read again
    return found.hexdigest()


@transaction.atomic
def choose_protocol(*, upload: Upload, protocol: str, name: str = "") -> None:
    """Set the draft that a file was uploaded to up as another protocol presets it; guess the file's columns anew.

    Raises as `change_protocol`, and as `upload_outputs` for batches that the campaign cannot show.
    """
    campaign = upload.campaign
    change_protocol(campaign=campaign, protocol=protocol, name=name)
    encoding = FileLayout.from_json(upload.layout).encoding
    layout, upload.summary = _look_at(Path(upload.file.path), upload.name, Screen.from_json(campaign.screen))
    upload.layout = replace(layout, encoding=encoding).to_json()
    upload.problems = None
    upload.save(update_fields=["layout", "summary", "problems"])


def _as_table(folder: Path, uploads: Sequence[UploadedFile]) -> tuple[Path, str, Path | None]:
    """Return the one table that uploaded files are, its name, and a zip of the files that it may name.

    `folder` is for what is made of them.
    """
    limit, given = settings.MAX_UPLOAD_MB * 2**20, []
    for n, each in enumerate(uploads):
        path = folder / f"upload-{n}"
        with path.open("wb") as copy:
            for chunk in each.chunks(_CHUNK):
                copy.write(chunk)
        given.append((Path(each.name or (f"file {n}" if n else "outputs")).name, path))
    given, packed = take_out(given, folder, limit)
    return *_one_table(folder, given, limit), packed


def _one_table(folder: Path, given: Sequence[tuple[str, Path]], limit: int) -> tuple[Path, str]:
    """Return the one table that files are, and its name."""
    (name, path), *more = given
    made = folder / "made"
    files = read_archive(path, name, limit)
    if files is None:
        path, name = unpack(path, folder, name, limit)
    if more:
        if files is not None:
            raise whole_file_error(name, "mixed_files", "this is an archive. Give it alone.")
        files = {name: path.read_bytes(), **{other: its_path.read_bytes() for other, its_path in more}}
    if files and (only := the_only_table(files)):
        made.write_bytes(files[only])
        path, name = made, only
    elif files:
        with made.open("w", encoding="utf-8", newline="") as stream:
            write_table(files, name, stream)
        return made, f"{Path(name).stem}.csv" if not more else "outputs.csv"
    if not is_batch(path) and (key := find_list(path, name)):
        unfolded = folder / "unfolded"
        with unfolded.open("w", encoding="utf-8") as stream:
            write_unfolded(path, key, stream, name)
        return unfolded, name
    return path, name


def _look_at(path: Path, name: str, screen: Screen) -> tuple[FileLayout, dict[str, Any]]:
    """Return the guessed layout of a file and, of batches, what they hold."""
    if is_batch(path):
        check_screen(screen)
        batch = read_batch(path, screen, name=name, longest_text=settings.LONGEST_TEXT)
        return FileLayout(APPRAISE), _summary(batch.contents, screen, batch)
    is_windows = bool(lines_if_windows(path, name))
    found = preview(path, name, encoding=WINDOWS_1252 if is_windows else None)
    if len(found.columns) > MAX_COLUMNS:
        message = f"there are {len(found.columns):,} columns, and at most {MAX_COLUMNS} are read. Leave some out."
        raise TableError(name, [Problem(1, None, message, "too_many_columns")])
    return replace(guess_layout(found, screen), encoding="" if is_windows else "utf-8"), {}


@transaction.atomic
def delete_upload(*, upload: Upload, user: User, act: Act | None = None) -> None:
    """Delete an uploaded file; what was imported from it stays. Raises DomainError `frozen` or `import_running`."""
    lock_for_change(upload.campaign)
    locked = Upload.objects.select_for_update().get(pk=upload.pk)
    if locked.job and not locked.job.is_finished:
        raise DomainError("import_running", "The file is being imported. Wait until that has finished.")
    Deletion.objects.create(
        kind=Deletion.Kind.UPLOAD,
        name=locked.name,
        object_id=locked.pk,
        done_by=user,
        contents=[[1, "uploaded file", locked.name]],
        done_at=timezone.now(),
    )
    job = locked.job
    put_aside(act, [*([job] if job else []), locked], files=[locked.file.name or "", locked.packed.name or ""])
    locked.delete()
    if job:
        job.delete()


@transaction.atomic
def restore_upload(*, campaign: Campaign, act: Act) -> None:
    """Take `delete_upload` back; raise DomainError `frozen`."""
    lock_for_change(campaign)
    restore_rows(act)
    Deletion.objects.filter(object_id__in=[row["pk"] for row in act.rows]).delete()


@transaction.atomic
def read_as(*, upload: Upload, encoding: str) -> None:
    """Say which encoding a file has; raise DomainError `frozen`, or `bad_encoding` if it is none that was offered."""
    if upload.campaign.is_launched:
        raise frozen()
    locked = Upload.objects.select_for_update().get(pk=upload.pk)
    layout = FileLayout.from_json(locked.layout)
    if layout.encoding or encoding != WINDOWS_1252:
        raise DomainError("bad_encoding", "Choose the encoding that is offered, or save the file as UTF-8.")
    locked.layout = replace(layout, encoding=encoding).to_json()
    locked.save(update_fields=["layout"])


@transaction.atomic
def map_columns(*, upload: Upload, layout: FileLayout) -> None:
    """Say what the columns of an uploaded table mean; raise DomainError `bad_mapping` or `import_running`."""
    campaign = upload.campaign
    is_open = get_protocol(campaign.protocol).has_open_screen
    check_layout(layout, Screen.from_json(campaign.screen), is_open=is_open)
    locked = Upload.objects.select_for_update().get(pk=upload.pk)
    if locked.job and not locked.job.is_finished:
        raise DomainError("import_running", "The file is being imported. Wait until that has finished.")
    if layout.to_json() != locked.layout:
        locked.layout, locked.problems = layout.to_json(), None
        locked.save(update_fields=["layout", "problems"])
    upload.layout, upload.problems = locked.layout, locked.problems


@transaction.atomic
def start_import(*, upload: Upload, user: User, mode: Mode = "replace") -> Upload:
    """Queue the import of an uploaded file, which takes the place of what the campaign holds or is added to it.

    Of two clicks on one button, the second gets the first one's job. Raises DomainError `frozen`, `import_running`
    for another file, `bad_mapping`, or for adding `given_hits` where HITs came with a file.
    """
    campaign = lock_for_change(upload.campaign)
    locked = Upload.objects.select_for_update().get(pk=upload.pk)
    if locked.job and not locked.job.is_finished:
        return locked
    if is_importing(campaign, besides=locked):
        raise DomainError("import_running", "Another file is being imported. Wait until that has finished.")
    layout = FileLayout.from_json(locked.layout)
    if not layout.has_hits:
        _check_mapping(campaign, layout, mode)
    if mode == "add" and (layout.has_hits or campaign.has_given_hits):
        raise DomainError("given_hits", "A file with HITs cannot be added to what is there. Choose to replace it.")
    locked.problems, locked.imported_at = None, None
    locked.job = enqueue("campaigns.import", owner=user, args={"upload": str(locked.pk), "mode": mode})
    locked.save(update_fields=["problems", "imported_at", "job"])
    return locked


def _check_mapping(campaign: Campaign, layout: FileLayout, mode: Mode) -> None:
    if not layout.encoding:
        raise DomainError("bad_encoding", "The file is not UTF-8. Say first which encoding it has.")
    screen = Screen.from_json(campaign.screen)
    check_layout(layout, screen, is_open=get_protocol(campaign.protocol).has_open_screen)
    missing = missing_fields(layout, screen)
    if mode == "replace" and missing:
        labels = ", ".join(field.label.lower() for field in missing)
        raise DomainError("bad_mapping", f"Choose the column that holds: {labels}. Workers are shown it.")
    if mode == "add" and not layout.source:
        raise DomainError("bad_mapping", "Choose the column of source ids: it tells which sources are there already.")


def execute_import(
    *, upload: Upload, mode: Mode, on_progress: OnProgress, saving: Callable[[], AbstractContextManager[None]]
) -> None:
    """Read and check an uploaded file and store what it holds; an import that is done is left as it is.

    `saving` opens the transaction that stores everything or nothing. Raises TableError, after keeping the problems
    with the upload, if anything is wrong with the file; DomainError `frozen` or `changing` if the campaign was launched
    or changed meanwhile.
    """
    if upload.imported_at:
        return
    packed = Path(upload.packed.path) if upload.packed else None
    say = "Reading the files that it names"
    with CampaignFiles(upload.campaign, packed, lambda done, total: on_progress(done, total, say)) as files:
        _import_with(files, upload, mode, on_progress, saving)


def _import_with(
    files: CampaignFiles,
    upload: Upload,
    mode: Mode,
    on_progress: OnProgress,
    saving: Callable[[], AbstractContextManager[None]],
) -> None:
    campaign, layout = upload.campaign, FileLayout.from_json(upload.layout)
    screen, version = Screen.from_json(campaign.screen), version_of(campaign)
    try:
        contents, batch = _read(upload, layout, screen, mode, on_progress, files)
    except TableError as error:
        upload.problems = {"rows": [[each.row, each.column, each.message] for each in error.faults], "n_more": 0}
        with saving():
            upload.save(update_fields=["problems"])
        raise
    with files.written() as rows, saving():
        locked = lock_for_change(campaign)
        if locked.screen != campaign.screen or (mode == "add" and version_of(locked) != version):
            raise DomainError("changing", "The campaign was changed while the file was being read. Import it again.")
        _store(locked, layout, contents, batch, mode, on_progress)
        store_files(locked, rows)
        upload.summary = {"mode": mode, **_summary(contents, layout.extended(screen), batch)}
        upload.layout = layout.with_new_fields(screen).to_json()
        upload.imported_at, upload.problems = timezone.now(), None
        upload.save(update_fields=["summary", "layout", "imported_at", "problems"])


def _read(
    upload: Upload, layout: FileLayout, screen: Screen, mode: Mode, on_progress: OnProgress, files: CampaignFiles
) -> tuple[Contents, Batch | None]:
    """Return what the file holds; as a batch too if it is one."""
    path = Path(upload.file.path)
    on_progress(0, 0, "Reading the file")
    if layout.has_hits:
        batch = read_batch(path, screen, name=upload.name, longest_text=settings.LONGEST_TEXT)
        return batch.contents, batch
    contents = read_contents(
        path,
        layout,
        screen,
        name=upload.name,
        existing=read_existing(upload.campaign) if mode == "add" else None,
        longest_text=settings.LONGEST_TEXT,
        on_progress=lambda share: on_progress(round(100 * share), 100, "Reading the file, per cent"),
        files=files,
    )
    return replace(contents, notices=(*contents.notices, *files.notices())), None


def _store(
    campaign: Campaign, layout: FileLayout, contents: Contents, batch: Batch | None, mode: Mode, on_progress: OnProgress
) -> None:
    human = list(campaign.systems.filter(is_human=True).values_list("name", flat=True))
    if mode == "replace":
        clear_contents(campaign)
    screen = Screen.from_json(campaign.screen)
    add_contents(campaign, contents, on_progress, human)
    changes = {"screen": layout.extended(screen).to_json(), "has_given_hits": batch is not None, "n_tutorial": 0}
    Campaign.objects.filter(pk=campaign.pk).update(**changes)
    if batch is not None:
        add_given_hits(campaign, contents, batch.hits)
    else:
        mark_unbuilt(campaign)


def _summary(contents: Contents, screen: Screen, batch: Batch | None) -> dict[str, Any]:
    """Return what a file held: counts and notices."""
    return {
        "n_sources": len(contents.sources),
        "n_systems": len(contents.systems),
        "n_outputs": len(contents.texts),
        "n_hits": len(batch.hits) if batch else 0,
        "notices": [notice.to_json() for notice in notices_of(contents, screen, is_sample=batch is not None)],
    }
