"""Uploaded ratings and their runs. Results are real; each different analysis is computed once a session."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from analysis.methods.settings import AnalysisSettings, custom_settings, from_protocol
from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.ratings_files import upload_ratings
from analysis.web.services.runs import start_run
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job

CAREFUL, CARELESS = "w-careful", "w-careless"
Start = Callable[..., AnalysisRun]

_computed: dict[str, tuple[AnalysisRun, Path]] = {}


def ratings_csv(
    systems: Sequence[str] = ("alder", "birch", "cedar"),
    criteria: Sequence[str] = ("adequacy",),
    n_careful: int = 4,
    n_sources: int = 8,
) -> bytes:
    """Return ratings by careful workers and a careless one; the first systems are the best."""
    lines = ["worker,assignment,position,source,system,kind,criterion,score"]
    workers = [CAREFUL, *(f"w{k}" for k in range(2, n_careful + 1)), CARELESS]
    for w, worker in enumerate(workers):
        position = 0
        for source in range(n_sources):
            for s, system in enumerate(systems):
                for kind in ("ordinary", "degraded") if s == source % len(systems) else ("ordinary",):
                    position += 1
                    for c, criterion in enumerate(criteria):
                        spread = (17 * source + 7 * s + 5 * w + 3 * c) % 19
                        score = 80 - 60 * s / len(systems) + spread - (30 if kind == "degraded" else 0)
                        if worker == CARELESS:
                            score = (37 * position + 11 * c) % 101
                        cells = (worker, f"a{w}", position, f"q{source}", _quoted(system), kind, _quoted(criterion))
                        lines.append(",".join(map(str, cells)) + f",{max(0, min(100, round(score)))}")
    return ("\n".join(lines) + "\n").encode()


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    """Keep the files of each test apart."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture(scope="module", autouse=True)
def few_times() -> Iterator[None]:
    """Analyse responses less often again, by halves and pools of their workers: each time takes the same path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.questions._MOST_TIMES", 20)
        yield


def kept_files() -> list[Path]:
    return [path for path in Path(django_settings.MEDIA_ROOT).rglob("*") if path.is_file()]


@pytest.fixture
def upload(owner: User) -> Callable[..., RatingsFile]:
    """Upload a file's bytes as the owner."""

    def upload_bytes(content: bytes, title: str = "Trees", name: str = "ratings.csv") -> RatingsFile:
        return upload_ratings(owner=owner, upload=SimpleUploadedFile(name, content), title=title)

    return upload_bytes


@pytest.fixture
def trees(upload) -> RatingsFile:
    """A small sound study of three systems and one criterion."""
    return upload(ratings_csv())


@pytest.fixture
def start(owner: User) -> Start:
    """Start and finish a run of a ratings file, by default in the file's only protocol."""

    def start_and_finish(file: RatingsFile, settings: AnalysisSettings | None = None, **more) -> AnalysisRun:
        settings = settings or from_protocol("mrc-adequacy")
        return finish(start_run(ratings_file=file, user=owner, settings=settings, **more))

    return start_and_finish


@pytest.fixture
def done(trees: RatingsFile, start: Start) -> AnalysisRun:
    """A finished run of the trees."""
    return start(trees)


@pytest.fixture
def done_with_two_criteria(upload, start: Start) -> AnalysisRun:
    criteria = ("clear", "wordy")
    return start(upload(ratings_csv(criteria=criteria), title="Two"), custom_settings(criteria))


def finish(run: AnalysisRun) -> AnalysisRun:
    """Do the job of a run, or take what the same job gave before."""
    key = json.dumps(
        [run.ratings_file.title, run.ratings_file.sha256, run.settings, run.mapping, run.metrics], sort_keys=True
    )
    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    if key in _computed:
        before, kept = _computed[key]
        shutil.copytree(kept, folder)
        run.report, run.fingerprint, run.finished_at = before.report, before.fingerprint, timezone.now()
        run.save()
    else:
        get_handler("analysis.run")(JobContext(), run=str(run.pk))
        run.refresh_from_db()
        kept = Path(django_settings.DATA_DIR) / "computed" / str(run.pk)
        shutil.copytree(folder, kept)
        _computed[key] = (run, kept)
    Job.objects.filter(pk=run.job_id).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    return AnalysisRun.objects.select_related("ratings_file", "job").get(pk=run.pk)
