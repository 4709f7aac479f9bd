"""How the site is set up: each setting that matters, whether it is right, and the lines to set where it is not."""

import os
import platform
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest

from campaigns.connectors import find_connector
from campaigns.models import Campaign, Chatbot, Webhook
from desk.storage import get_disk
from evalsite import __version__
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.jobs.queries import get_workers
from evalsite.lib.addresses import AllowList
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.env import setting_line
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_LOCAL = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}
_GIGA = 2**30


@dataclass(frozen=True)
class Check:
    """One part of the set-up: how it is now, what that means, and the lines that change it."""

    key: str
    title: str
    now: str
    text: str
    is_ok: bool = True
    lines: tuple[str, ...] = ()


def list_checks(request: HttpRequest, now: datetime) -> list[Check]:
    """Return all checks, as the process that answers this request is set up."""
    return [
        _version(),
        _public_address(request),
        _encrypted_connection(request),
        _hosts(request),
        _mail(),
        _secret_key(),
        _database(),
        _redis(),
        _workers(now),
        _disk(),
        _chatbot_hosts(),
        _webhook_hosts(),
        _platform_keys(),
    ]


def worker_commands() -> tuple[str, ...]:
    """Return how jobs are run: the commands to start, or the line to set."""
    if settings.REDIS_URL and not settings.JOBS_IN_PROCESS:
        return ("celery -A evalsite worker", "celery -A evalsite beat")
    return () if settings.JOBS_IN_PROCESS else (setting_line("JOBS_IN_PROCESS", "1"),)


def _version() -> Check:
    now = f"evalsite {__version__}, Django {django.get_version()}, Python {platform.python_version()}"
    if settings.DEBUG:
        text = "Error pages show settings and code to everybody."
        return Check("version", "Version", f"{now}; in debug mode", text, False, (setting_line("DEBUG", "0"),))
    return Check("version", "Version", now, f"On {platform.system()}, in {sys.prefix}.")


def _is_local(host: str) -> bool:
    return host.strip("[]") in _LOCAL or host.endswith(".localhost")


def _host_of(request: HttpRequest) -> str:
    """Return the host that a request names, without the port."""
    return urlsplit(f"//{request.get_host()}").hostname or ""


def _public_address(request: HttpRequest) -> Check:
    title, host = "Public address", _host_of(request)
    if settings.SITE_URL:
        is_ok = settings.SITE_URL.startswith("https://")
        text = (
            "Workers of crowd platforms are sent there."
            if is_ok
            else "Crowd platforms and browsers want an address with https://."
        )
        lines = () if is_ok else (setting_line("SITE_URL", f"https://{urlsplit(settings.SITE_URL).netloc}"),)
        return Check("address", title, settings.SITE_URL, text, is_ok, lines)
    here = request.build_absolute_uri("/").rstrip("/")
    if _is_local(host):
        text = "Only this machine can open it. For workers on other machines, give the site a public address:"
        return Check("address", title, f"not set; {here}", text, True, (setting_line("SITE_URL", "https://…"),))
    text = "Links to workers begin with the address at which a researcher opens the site."
    if request.is_secure():
        return Check("address", title, f"not set; {here}", text)
    text += " Crowd platforms want one with https://."
    return Check("address", title, f"not set; {here}", text, False, (setting_line("SITE_URL", f"https://{host}"),))


def _encrypted_connection(request: HttpRequest) -> Check:
    title, host = "HTTPS", _host_of(request)
    lines = []
    if "X-Forwarded-Proto" in request.headers and not settings.BEHIND_PROXY:
        lines.append(setting_line("BEHIND_PROXY", "1"))
    is_https = request.is_secure() or request.headers.get("X-Forwarded-Proto") == "https"
    if is_https and not settings.SECURE_COOKIES:
        lines.append(setting_line("SECURE_COOKIES", "1"))
    if lines:
        text = "A proxy with HTTPS is in front, and the site does not know all of it."
        return Check("https", title, "on, not completely set up", text, False, tuple(lines))
    if is_https:
        return Check("https", title, "on", "Passwords and ratings are encrypted on their way.")
    if _is_local(host):
        return Check("https", title, "off", "Not needed on this machine.")
    text = "Passwords and ratings are sent in clear text. Put a proxy with HTTPS in front of the site, then set:"
    lines = [setting_line("BEHIND_PROXY", "1"), setting_line("SECURE_COOKIES", "1")]
    return Check("https", title, "off", text, False, tuple(lines))


def _hosts(request: HttpRequest) -> Check:
    title, now = "Host names of this site", ", ".join(settings.ALLOWED_HOSTS)
    if "*" in settings.ALLOWED_HOSTS:
        line = setting_line("ALLOWED_HOSTS", [_host_of(request), "127.0.0.1"])
        text = "Any name is taken, so a forged one may come into links that are mailed."
        return Check("hosts", title, now, text, False, (line,))
    return Check("hosts", title, now, "Requests for other names are refused (ALLOWED_HOSTS).")


def _mail() -> Check:
    if not is_mail_set_up():
        text = "Links to choose a password have to be copied from these pages and sent by hand."
        lines = (
            setting_line("EMAIL_URL", "smtp://user:password@host:587"),
            setting_line("DEFAULT_FROM_EMAIL", "evalsite@example.org"),
        )
        return Check("mail", "Mail", "not set", text, False, lines)
    backend = settings.EMAIL_BACKEND.rpartition(".")[0].rpartition(".")[2]
    if backend in ("console", "filebased"):
        text = "Mails are written down on this server, and nobody gets them: for development only."
        line = setting_line("EMAIL_URL", "smtp://user:password@host:587")
        return Check("mail", "Mail", f"EMAIL_BACKEND: {backend}", text, False, (line,))
    return Check("mail", "Mail", f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}", f"From {settings.DEFAULT_FROM_EMAIL}.")


def _secret_key() -> Check:
    title = "SECRET_KEY and encryption"
    where = (
        "from the environment" if os.environ.get("SECRET_KEY", "").strip() else "in the data folder, file secret_key"
    )
    if former := len(settings.SECRET_KEY_FALLBACKS):
        where += f"; {counted(former, 'former key')}"
    n_stored = n_unreadable = 0
    for text in _stored_secrets():
        n_stored += 1
        try:
            decrypt_secrets(text)
        except DomainError:
            n_unreadable += 1
    if n_unreadable:
        text = (
            f"{n_unreadable} of {counted(n_stored, 'stored secret')} (keys of chatbots, platforms and webhooks) "
            "cannot be read: they were encrypted with another key. Add the former key, or have them entered again."
        )
        return Check("secrets", title, where, text, False, (setting_line("SECRET_KEY_FALLBACKS", "the former key"),))
    text = f"{counted(n_stored, 'stored secret')}, encrypted and readable. " if n_stored else "No secrets are stored. "
    return Check("secrets", title, where, f"{text}Keep the key with the backup of the database.")


def _stored_secrets() -> Iterator[str]:
    yield from Chatbot.objects.exclude(secrets="").values_list("secrets", flat=True)
    yield from Campaign.objects.exclude(platform_secrets="").values_list("platform_secrets", flat=True)
    yield from Webhook.objects.exclude(secret="").values_list("secret", flat=True)


def _database() -> Check:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if connection.vendor == "sqlite":
        now = f"SQLite {sqlite3.sqlite_version}"
        text = "Good for one machine. For many workers at once, use PostgreSQL (DATABASE_URL)."
        if settings.SQLITE_SYNCHRONOUS == "NORMAL":
            text += " A power cut may lose the last ratings (SQLITE_SYNCHRONOUS=NORMAL)."
    else:
        version = str(connection.pg_version) if hasattr(connection, "pg_version") else ""
        now = f"PostgreSQL {version[:-4]}.{int(version[-4:])}" if len(version) > 4 else connection.vendor
        text = f"Database {connection.settings_dict['NAME']}."
    if missing:
        text = f"{counted(len(missing), 'migration')} of this version not done yet. Run: python manage.py migrate"
    return Check("database", "Database", now, text, not missing)


def _redis() -> Check:
    if not settings.REDIS_URL:
        n_processes = os.environ.get("WEB_CONCURRENCY", "1")
        if n_processes not in ("", "1"):
            text = (
                f"{n_processes} web processes (WEB_CONCURRENCY) count rate limits each for itself, and each runs jobs."
            )
            return Check(
                "redis", "Redis", "not set", text, False, (setting_line("REDIS_URL", "redis://localhost:6379/0"),)
            )
        return Check("redis", "Redis", "not set", "Not needed by one web process: jobs and counters are in its memory.")
    parts = urlsplit(settings.REDIS_URL)
    now = f"{parts.hostname}:{parts.port or 6379}"
    try:
        caches["rate_limits"].set("desk", "1", 10)
    except Exception as error:  # of the client, of the socket, of TLS
        text = f"It does not answer ({type(error).__name__}), so jobs wait. Start it, or correct REDIS_URL."
        return Check("redis", "Redis", now, text, False)
    return Check("redis", "Redis", now, "It answers.")


def _workers(now: datetime) -> Check:
    workers = get_workers(now)
    if workers.alive:
        where = "in the web process" if settings.JOBS_IN_PROCESS else "in processes of their own"
        return Check(
            "workers", "Job workers", counted(len(workers.alive), "worker"), f"Seen in the last half minute, {where}."
        )
    commands = worker_commands()
    text = "None was seen lately, so imports, analyses and publishing wait. "
    text += "Start one:" if settings.REDIS_URL else "Restart the site." if settings.JOBS_IN_PROCESS else "Set:"
    return Check("workers", "Job workers", "none", text, False, commands)


def _disk() -> Check:
    disk = get_disk()
    now = f"{disk.free / _GIGA:.1f} GB of {disk.total / _GIGA:.1f} GB free"
    text = "Nothing can be saved once it is full. Storage shows what takes most." if disk.is_low else "Enough for now."
    return Check("disk", "Disk of the data folder", now, text, not disk.is_low)


def _chatbot_hosts() -> Check:
    allowed = AllowList(settings.CHATBOT_HOSTS)
    used = set()
    for slug, options in Chatbot.objects.exclude(system__campaign__status="closed").values_list(
        "connector", "settings"
    ):
        if connector := find_connector(slug):
            used |= {(host, port) for _, host, port in connector.hosts_of(options)}
    return _allowed("chatbot-hosts", "Hosts of chatbots", "CHATBOT_HOSTS", settings.CHATBOT_HOSTS, allowed, used)


def _webhook_hosts() -> Check:
    allowed = AllowList(settings.WEBHOOK_HOSTS)
    used = set()
    for url in Webhook.objects.filter(is_active=True).values_list("url", flat=True):
        parts = urlsplit(url)
        if parts.hostname:
            used.add((parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)))
    return _allowed("webhook-hosts", "Hosts of webhooks", "WEBHOOK_HOSTS", settings.WEBHOOK_HOSTS, allowed, used)


def _allowed(
    key: str, title: str, name: str, entries: list[str], allowed: AllowList, used: Iterable[tuple[str, int]]
) -> Check:
    now = ", ".join(entries) or "none"
    refused = sorted((host, port) for host, port in used if allowed.reach_of(host, port) == "none")
    if refused:
        named = ", ".join(dict.fromkeys(host for host, _ in refused))
        text = f"Campaigns want to call {named}, which is not allowed. To allow it:"
        return Check(key, title, now, text, False, (setting_line(name, allowed.with_hosts(refused)),))
    text = "Every public host may be called" if "*" in entries else "Others are refused"
    text += "; one that is private, or on this machine, only if it is named itself. With localhost:8000 as an example:"
    return Check(key, title, now, text, True, (setting_line(name, allowed.with_hosts([("localhost", 8000)])),))


def _platform_keys() -> Check:
    own = [
        title
        for title, key in (("Mechanical Turk", settings.MTURK_ACCESS_KEY_ID), ("Prolific", settings.PROLIFIC_TOKEN))
        if key
    ]
    if own:
        text = "Everybody who may edit a campaign spends from these accounts."
        return Check("platform-keys", "Crowd platforms", f"keys of the site for {' and '.join(own)}", text)
    return Check("platform-keys", "Crowd platforms", "no keys of the site", "Each campaign has its own keys.")
