"""What the site keeps, on the disk and in its bucket: how much of each kind, and what is largest."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum

from analysis.models import AnalysisRun, MetricScores, RatingsFile
from analysis.web.queries.workers_now import kept_file
from annotation.models import Assignment
from campaigns.models import Campaign, Chatbot, Membership, Output, Upload
from desk.navigation import campaign_url
from evalsite.accounts.models import User
from evalsite.lib.media import file_sizes, get_media

_LARGEST = 10
_DATABASE, _STATIC, _OTHER = "Database", "Static files of the site", "Other files of the data folder"
# By the first folder of their names.
_KINDS = {
    "uploads": "Uploaded outputs",
    "files": "Pictures of campaigns",
    "dialogues": "Dialogues of chatbots",
    "ratings": "Ratings files: uploaded, and taken from campaigns",
    "metrics": "Scores of metrics",
    "runs": "Results of analyses: tables, figures, packages",
    "workers": "What the ratings of workers say, for the table of workers",
}
_LOW_BYTES, _LOW_SHARE = 2**30, 0.05


@dataclass(frozen=True)
class Kind:
    """Files of one kind."""

    title: str
    n_files: int
    n_bytes: int


@dataclass(frozen=True)
class LargeCampaign:
    """A campaign with what it holds; `url` is where an administrator sees it ("": nowhere)."""

    name: str
    url: str
    owners: str
    is_archived: bool
    n_bytes: int
    n_outputs: int
    n_rated: int


@dataclass(frozen=True)
class LargeFile:
    """An upload or a result; `about` says what it is, and of which campaign."""

    path: str
    about: str
    n_bytes: int


@dataclass(frozen=True)
class Disk:
    """The disk that the data folder is on."""

    total: int
    free: int

    @property
    def is_low(self) -> bool:
        """Whether less than a gibibyte, or a twentieth, is free."""
        return self.free < _LOW_BYTES or self.free < _LOW_SHARE * self.total


@dataclass(frozen=True)
class Storage:
    """Everything, as it is now; `bucket`: where uploads and results are ("": in the folder)."""

    folder: str
    bucket: str
    disk: Disk
    database: str
    kinds: list[Kind]
    campaigns: list[LargeCampaign]
    files: list[LargeFile]

    @property
    def n_bytes(self) -> int:
        """What all of it takes."""
        return sum(kind.n_bytes for kind in self.kinds)


def measure_storage(seen_by: User) -> Storage:
    """Return what the data folder and the database take. It looks at every file; the number of queries is constant."""
    media = dict(get_media().sizes())
    return Storage(
        str(settings.DATA_DIR),
        settings.MEDIA_BUCKET,
        get_disk(),
        connection.vendor,
        _kinds(media),
        _largest_campaigns(media, seen_by),
        _largest_files(media),
    )


def get_disk() -> Disk:
    """Return how full the disk of the data folder is."""
    found = shutil.disk_usage(settings.DATA_DIR)
    return Disk(found.total, found.free)


def _kinds(media: dict[str, int]) -> list[Kind]:
    sizes: Counter[str] = Counter()
    numbers: Counter[str] = Counter()

    def add(title: str, n_bytes: int) -> None:
        sizes[title] += n_bytes
        numbers[title] += 1

    for path, n_bytes in media.items():
        add(_KINDS.get(path.partition("/")[0], _OTHER), n_bytes)
    below = {Path(settings.MEDIA_ROOT): None, Path(settings.STATIC_ROOT): _STATIC}
    database = Path(str(connection.settings_dict["NAME"])) if connection.vendor == "sqlite" else None
    for entry in Path(settings.DATA_DIR).iterdir():
        if entry in below:
            continue
        if database and entry.name.startswith(database.name) and database.parent == entry.parent:
            add(_DATABASE, entry.stat().st_size)
            continue
        for _, n_bytes in file_sizes(entry) if entry.is_dir() else [("", entry.lstat().st_size)]:
            add(_OTHER, n_bytes)
    for _, n_bytes in file_sizes(Path(settings.STATIC_ROOT)):
        add(_STATIC, n_bytes)
    if database is None:
        add(_DATABASE, _database_size())
    return [Kind(title, numbers[title], n_bytes) for title, n_bytes in sizes.most_common()]


def _database_size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _owners(campaigns: dict[int, Campaign]) -> dict[int, str]:
    owners = Membership.objects.filter(campaign__in=campaigns, role=Membership.Role.OWNER)
    found: dict[int, list[str]] = {}
    for campaign_id, email in owners.values_list("campaign", "user__email"):
        found.setdefault(campaign_id, []).append(email)
    return {key: ", ".join(emails) for key, emails in found.items()}


def _largest_campaigns(media: dict[str, int], seen_by: User) -> list[LargeCampaign]:
    """Return the campaigns with the most bytes in files, then with the most outputs and rated items."""
    n_bytes: Counter[int] = Counter()
    for path, campaign_id in _campaign_of_file():
        if path in media:
            n_bytes[campaign_id] += media[path]
    runs = AnalysisRun.objects.filter(ratings_file__campaign__isnull=False)
    campaign_of_run = dict(runs.values_list("pk", "ratings_file__campaign"))
    for path, size in media.items():
        if (run := _run_of(path)) in campaign_of_run:
            n_bytes[campaign_of_run[run]] += size
    n_outputs = dict(Output.objects.order_by().values_list("source__campaign").annotate(n=Count("pk")))
    n_rated = dict(Assignment.objects.order_by().values_list("campaign").annotate(n=Sum("n_rated")))
    keys = {*n_bytes, *n_outputs, *n_rated}
    order = sorted(keys, key=lambda key: (-n_bytes[key], -n_outputs.get(key, 0) - n_rated.get(key, 0), key))
    campaigns = Campaign.objects.in_bulk(order[:_LARGEST])
    owners, mine = _owners(campaigns), set(seen_by.memberships.values_list("campaign", flat=True))
    return [
        LargeCampaign(
            campaigns[key].name,
            campaign_url(seen_by, campaigns[key], mine),
            owners.get(key, ""),
            campaigns[key].archived_at is not None,
            n_bytes[key],
            n_outputs.get(key, 0),
            n_rated.get(key, 0),
        )
        for key in order[:_LARGEST]
        if key in campaigns
    ]


def _campaign_of_file() -> Iterator[tuple[str, int]]:
    yield from Upload.objects.values_list("file", "campaign")
    yield from Chatbot.objects.exclude(dialogues="").values_list("dialogues", "system__campaign")
    yield from RatingsFile.objects.filter(campaign__isnull=False).values_list("file", "campaign")
    yield from MetricScores.objects.exclude(file="").filter(campaign__isnull=False).values_list("file", "campaign")
    for public_id, campaign in Campaign.objects.values_list("public_id", "pk"):
        yield kept_file(public_id), campaign


def _largest_files(media: dict[str, int]) -> list[LargeFile]:
    largest = Counter(media).most_common(_LARGEST)
    paths = [path for path, _ in largest]
    about = {
        file: f"{name}, of {campaign}"
        for file, name, campaign in Upload.objects.filter(file__in=paths).values_list("file", "name", "campaign__name")
    }
    chatbots = Chatbot.objects.filter(dialogues__in=paths).values_list(
        "dialogues", "system__name", "system__campaign__name"
    )
    about |= {file: f"Dialogues of {system}, of {campaign}" for file, system, campaign in chatbots}
    ratings = RatingsFile.objects.filter(file__in=paths).values_list("file", "title", "owner__email")
    about |= {file: f"Ratings “{title}”, of {owner}" for file, title, owner in ratings}
    scores = MetricScores.objects.filter(file__in=paths).values_list("file", "name", "created_by__email")
    about |= {file: f"Scores of metrics, {name}, of {creator}" for file, name, creator in scores}
    about |= _about_workers(paths)
    run_of = {path: run for path in paths if (run := _run_of(path))}
    runs = AnalysisRun.objects.filter(pk__in=set(run_of.values())).values_list("pk", "ratings_file__title")
    titles = dict(runs)
    about |= {path: f"Analysis of “{titles[run]}”" for path, run in run_of.items() if run in titles}
    return [LargeFile(path, about.get(path, ""), n_bytes) for path, n_bytes in largest]


def _about_workers(paths: Iterable[str]) -> dict[str, str]:
    """Return what to say of the files that lists of workers keep, by path."""
    ids = [key for path in paths if (key := _key_in("workers", path.removesuffix(".json")))]
    campaigns = Campaign.objects.filter(public_id__in=ids).values_list("public_id", "name")
    return {kept_file(public_id): f"List of workers of {name}" for public_id, name in campaigns}


def _run_of(path: str) -> UUID | None:
    """Return the key of the analysis run that a file belongs to."""
    return _key_in("runs", path)


def _key_in(folder: str, path: str) -> UUID | None:
    """Return the key that follows a folder in the name of a file; None of files elsewhere."""
    first, _, rest = path.partition("/")
    with suppress(ValueError):
        return UUID(rest.partition("/")[0]) if first == folder else None
    return None
