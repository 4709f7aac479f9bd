"""The same tests of what is stored, on PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What locks, claims, streams, copies rows by SQL of its own, or keeps JSON; pages that only show are left out. The
# longest app comes first, so that two processes share the work.
FILES = {
    "analysis": [
        "test_runs.py",
        "test_uploads.py",
        "test_campaign_snapshots.py",
    ],
    "annotation": [
        "test_assignments.py",
        "test_places.py",
        "test_ratings.py",
        "test_concurrency.py",
        "test_open_link.py",
        "test_coming_back.py",
        "test_worker_mischief.py",
        "test_raters_links.py",
        "test_exports_files.py",
        "chats/test_chats.py",
        "chats/test_replies.py",
        "chats/test_chat_monitoring.py",
        "chats/test_chat_transcripts.py",
        "chats/test_chat_exports.py",
    ],
    "crowd": ["test_waves.py", "test_syncing.py", "test_orders.py", "test_payments.py", "test_payments_export.py"],
    "jobs": ["test_running.py", "test_claims.py", "test_sweep.py", "test_worker.py", "test_views.py"],
    "campaigns": [
        "hits/test_hits.py",
        "hits/test_building.py",
        "hits/test_refusals.py",
        "data/test_importing.py",
        "data/test_bad_files.py",
        "data/test_batches.py",
        "test_lifecycle.py",
        "test_campaigns.py",
        "test_settings.py",
    ],
}


@pytest.mark.parametrize("app", FILES)
def test_an_app_holds_on_postgresql_too(postgres_url: str, app: str) -> None:
    files = [str(HERE / app / name) for name in FILES[app]]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=HERE.parent,
        env={**os.environ, "DATABASE_URL": postgres_url, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
