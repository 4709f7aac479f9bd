"""How the site is set up: each setting that matters, whether it is right, and the lines to set where it is not.

The page *System* and `evalsite check` show the same.
"""

import os
import platform
import sqlite3
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from tempfile import TemporaryFile
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin
from django.core.cache import caches
from django.core.files.storage import storages
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest
from django.http.request import validate_host
from django.urls import reverse

from campaigns.connectors import find_connector
from campaigns.models import Campaign, Chatbot, Webhook
from campaigns.platforms import platforms
from desk.secrets import iter_secrets
from desk.storage import get_disk
from evalsite.accounts import oidc
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.mails import find_mail_fault
from evalsite.accounts.proxy_sign_in import is_proxy_believed
from evalsite.jobs.models import Job
from evalsite.jobs.queries import count_faults, get_workers
from evalsite.lib.addresses import AllowList
from evalsite.lib.env import setting_line
from evalsite.lib.media import get_media
from evalsite.lib.version import __version__
from evalsite.lib.words import counted
from evalsite.serving import NEEDS_PROXY

_LOCAL = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}
_GIGA = 2**30
_HSTS_S = "2592000"  # thirty days
_SHORTEST_PREFIX = 8  # of a network in which only proxies are
_FAULTS_SHOWN = timedelta(days=7)


@dataclass(frozen=True)
class Check:
    """One part of the set-up: how it is now, what that means, and the lines that change it.

    What is not OK needs attention; where `must_fix` says so, the site does not work, or is not safe, until it is fixed.
    `page`: the address of the page where more is seen; "": there is none.
    """

    key: str
    title: str
    now: str
    text: str
    is_ok: bool = True
    lines: tuple[str, ...] = ()
    must_fix: bool = False
    page: str = ""


@dataclass(frozen=True)
class Visit:
    """How the site is reached: its address as it sees it, and the scheme that a proxy says ("": none says any)."""

    url: str
    forwarded_scheme: str = ""

    @classmethod
    def by_request(cls, request: HttpRequest) -> "Visit":
        """Return how this request came."""
        return cls(request.build_absolute_uri("/").rstrip("/"), request.headers.get("X-Forwarded-Proto", ""))

    @classmethod
    def by_settings(cls) -> "Visit":
        """Return how the settings say that the site is reached. HTTPS is always a proxy's: the site has none."""
        url = settings.SITE_URL or "http://localhost:8000"
        return cls(url, "https" if url.startswith("https://") else "")

    @property
    def host(self) -> str:
        """The host without the port."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_secure(self) -> bool:
        """Whether the site knows that the connection is encrypted."""
        return self.url.startswith("https://")


def list_checks(visit: Visit, now: datetime, *, tries_network: bool = False) -> list[Check]:
    """Return all checks, as this process is set up. Those that read the database need one that is up to date."""
    database = _database()
    checks = [
        _version(visit),
        _public_address(visit),
        _encrypted_connection(visit),
        _proxy(visit),
        *_proxy_sign_in(),
        *_provider_sign_in(tries_network),
        *_passwords(),
        _hosts(visit),
        _mail(tries_network),
        _folders(),
        *_bucket(),
        _disk(),
        database,
        _redis(),
    ]
    if database.is_ok:
        checks += [_secret_key(), _workers(now), _failed_jobs(now), _chatbot_hosts(), _webhook_hosts(), *_platforms()]
    return [*checks, _platform_keys()]


def worker_commands() -> tuple[str, ...]:
    """Return how jobs are run: the commands to start, or the line to set."""
    if settings.REDIS_URL and not settings.JOBS_IN_PROCESS:
        return ("evalsite worker",)
    return () if settings.JOBS_IN_PROCESS else (setting_line("JOBS_IN_PROCESS", "1"),)


def _version(visit: Visit) -> Check:
    now = f"evalsite {__version__}, Django {django.get_version()}, Python {platform.python_version()}"
    if settings.DEBUG:
        text, line = "Error pages show settings and code to everybody.", setting_line("DEBUG", "0")
        return Check(
            "version", "Version", f"{now}; in debug mode", text, False, (line,), must_fix=not _is_local(visit.host)
        )
    return Check("version", "Version", now, f"On {platform.system()}, in {sys.prefix}.")


def _is_local(host: str) -> bool:
    return host.strip("[]") in _LOCAL or host.endswith(".localhost")


def _public_address(visit: Visit) -> Check:
    title, host, here = "Public address", visit.host, visit.url
    if settings.SITE_URL:
        is_ok = settings.SITE_URL.startswith("https://")
        text = (
            "Workers of crowd platforms are sent there."
            if is_ok
            else "Crowd platforms and browsers want an address with https://."
        )
        lines = () if is_ok else (setting_line("SITE_URL", f"https://{urlsplit(settings.SITE_URL).netloc}"),)
        return Check("address", title, settings.SITE_URL, text, is_ok, lines)
    if _is_local(host):
        text = "Only this machine can open it. For workers on other machines, give the site a public address:"
        return Check("address", title, f"not set; {here}", text, True, (setting_line("SITE_URL", "https://…"),))
    text = "Links to workers begin with the address at which a researcher opens the site."
    if visit.is_secure:
        return Check("address", title, f"not set; {here}", text)
    text += " Crowd platforms want one with https://."
    return Check("address", title, f"not set; {here}", text, False, (setting_line("SITE_URL", f"https://{host}"),))


def _encrypted_connection(visit: Visit) -> Check:
    title, host = "HTTPS", visit.host
    lines = []
    if visit.forwarded_scheme and not settings.BEHIND_PROXY:
        lines.append(setting_line("BEHIND_PROXY", "1"))
    is_https = visit.is_secure or visit.forwarded_scheme == "https"
    if is_https and not settings.SECURE_COOKIES:
        lines.append(setting_line("SECURE_COOKIES", "1"))
    if lines:
        text = "A proxy with HTTPS is in front, and the site does not know all of it."
        return Check("https", title, "on, not completely set up", text, False, tuple(lines))
    if is_https and not settings.SECURE_HSTS_SECONDS and not _is_local(host):
        text = "Browsers still try plain HTTP, where others can read along and answer. To have them use HTTPS only:"
        return Check("https", title, "on, not required", text, False, (setting_line("HSTS_SECONDS", _HSTS_S),))
    if is_https:
        text = "Passwords and ratings are encrypted on their way."
        if days := settings.SECURE_HSTS_SECONDS // 86_400:
            text += f" A browser that was here uses HTTPS only, for {counted(days, 'day')} (HSTS_SECONDS)."
        return Check("https", title, "on", text)
    if _is_local(host):
        return Check("https", title, "off", "Not needed on this machine.")
    text = "Passwords and ratings are sent in clear text. Put a proxy with HTTPS in front of the site, then set:"
    lines = [setting_line("BEHIND_PROXY", "1"), setting_line("SECURE_COOKIES", "1")]
    return Check("https", title, "off", text, False, tuple(lines))


def _proxy(visit: Visit) -> Check:
    title = "Proxy in front"
    if settings.BEHIND_PROXY:
        text = (
            "It has to read whole requests before it passes them on, as Caddy and nginx can: half a request would hold"
        )
        return Check("proxy", title, "BEHIND_PROXY is set", f"{text} one of the threads that answer.")
    if _is_local(visit.host):
        return Check("proxy", title, "none", "Not needed on this machine.")
    return Check("proxy", title, "none", NEEDS_PROXY, False, (setting_line("BEHIND_PROXY", "1"),))


def _proxy_sign_in() -> list[Check]:
    """Return what is to be said of a header that signs people in; nothing if there is none."""
    if not settings.REMOTE_USER_HEADER:
        return []
    title, now = "Sign-in by the proxy", f"{settings.REMOTE_USER_HEADER}, of {', '.join(settings.REMOTE_USER_PROXIES)}"
    if not settings.BEHIND_PROXY:
        text = "No proxy is in front that could set this header, so it is not read. Take it out, or with a proxy set:"
        lines = (setting_line("REMOTE_USER_HEADER", ""), setting_line("BEHIND_PROXY", "1"))
        return [Check("remote-user", title, now, text, False, lines, must_fix=True)]
    if open_ones := [each for each in settings.REMOTE_USER_PROXIES if ip_network(each).prefixlen < _SHORTEST_PREFIX]:
        text = f"Every machine of {', '.join(open_ones)} may sign in as anybody. Name the address of the proxy alone:"
        line = setting_line("REMOTE_USER_PROXIES", "127.0.0.1")
        return [Check("remote-user", title, now, text, False, (line,), must_fix=True)]
    text = "Whom it names is signed in without a password: the proxy has to remove this header from what clients send."
    return [Check("remote-user", title, now, text)]


def _provider_sign_in(is_tried: bool) -> list[Check]:
    """Return what is to be said of an OpenID Connect provider; nothing if none is set."""
    needed = {name: getattr(settings, name) for name in ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")}
    title, now = "Sign-in by a provider", settings.OIDC_ISSUER or "no OIDC_ISSUER"
    if not any(needed.values()):
        return []
    if missing := [name for name, value in needed.items() if not value]:
        text = f"Nobody can sign in with it: {' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not set."
        lines = tuple(setting_line(name, "…") for name in missing)
        return [Check("provider", title, now, text, False, lines, must_fix=True)]
    if is_tried and (fault := oidc.find_fault()):
        return [Check("provider", title, now, f"Nobody can sign in with it: {fault}", False, must_fix=True)]
    is_open = not (settings.OIDC_DOMAINS or settings.OIDC_REQUIRED_CLAIM)
    if settings.OIDC_NEW_ACCOUNTS == "ADMINISTRATOR" and not settings.OIDC_REQUIRED_CLAIM:
        text = "Everybody whom it signs in becomes an administrator here. Say by a claim who shall be one:"
        lines = (setting_line("OIDC_REQUIRED_CLAIM", "groups=…"),)
        return [Check("provider", title, now, text, False, lines, must_fix=True)]
    if settings.OIDC_NEW_ACCOUNTS == "RESEARCHER" and is_open:
        text = "Everybody whom it signs in gets an account here. To have only some, name domains or a claim:"
        return [Check("provider", title, now, text, True, (setting_line("OIDC_DOMAINS", "example.org"),))]
    accounts = (
        "Accounts are made" if settings.OIDC_NEW_ACCOUNTS != "NONE" else "Accounts of people who were invited are made"
    )
    return [Check("provider", title, now, f"{accounts} at the first sign-in.")]


def _passwords() -> list[Check]:
    """Return what is to be said where nobody signs in with a password."""
    if settings.PASSWORD_SIGN_IN:
        return []
    line = (setting_line("PASSWORD_SIGN_IN", "1"),)
    if oidc.is_offered() or is_proxy_believed():
        text = "If the provider, or the proxy, fails, nobody can sign in. Until it works again, set:"
        return [Check("passwords", "Passwords", "not used", text, True, line)]
    text = "Nobody can sign in: there is neither a provider nor a proxy that does it."
    return [Check("passwords", "Passwords", "not used", text, False, line, must_fix=True)]


def _hosts(visit: Visit) -> Check:
    title, now = "Host names of this site", ", ".join(settings.ALLOWED_HOSTS)
    if "*" in settings.ALLOWED_HOSTS:
        line = setting_line("ALLOWED_HOSTS", [visit.host, "127.0.0.1"])
        text = "Any name is taken, so a forged one may come into links that are mailed."
        return Check("hosts", title, now, text, False, (line,))
    public = urlsplit(settings.SITE_URL).hostname
    if public and not validate_host(public, settings.ALLOWED_HOSTS):
        line = setting_line("ALLOWED_HOSTS", [public, *settings.ALLOWED_HOSTS])
        text = f"Requests for {public}, the host of SITE_URL, are refused."
        return Check("hosts", title, now, text, False, (line,), must_fix=True)
    return Check("hosts", title, now, "Requests for other names are refused (ALLOWED_HOSTS).")


def _mail(is_tried: bool) -> Check:
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
    now = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    if is_tried and (fault := find_mail_fault()):
        return Check("mail", "Mail", now, f"No mail can be sent: {fault}", False, must_fix=True)
    return Check("mail", "Mail", now, f"From {settings.DEFAULT_FROM_EMAIL}.")


def _folders() -> Check:
    title, now = "Folders", str(settings.DATA_DIR)
    for folder in (settings.DATA_DIR, *([] if settings.MEDIA_BUCKET else [settings.MEDIA_ROOT])):
        try:
            with TemporaryFile(dir=folder):
                pass
        except OSError as error:
            text = f"Nothing can be written to {folder} ({error.strerror}), so uploads and results cannot be kept."
            return Check("folders", title, now, text, False, must_fix=True)
    if isinstance(storages["staticfiles"], ManifestFilesMixin) and storages["staticfiles"].read_manifest() is None:
        text = "Style sheets and scripts are missing. Run: evalsite collectstatic (evalsite serve does it, too)"
        return Check("folders", title, now, text, False, must_fix=True)
    return Check("folders", title, now, "The database, uploads and results can be written, and scripts are there.")


def _platforms() -> list[Check]:
    """Return which platforms of campaigns that have not ended need what is not installed."""
    used = Campaign.objects.exclude(status=Campaign.Status.CLOSED).values_list("platform", flat=True).distinct()
    known = platforms.all()
    lacking = ((known[slug], known[slug].lacks()) for slug in sorted(used) if slug in known)
    return [
        Check(f"platform-{each.slug}", each.title, "used by campaigns", text, False) for each, text in lacking if text
    ]


def _bucket() -> list[Check]:
    """Return whether uploads and results can be kept in the bucket, by a file that is written; nothing without one."""
    if not settings.MEDIA_BUCKET:
        return []
    title, now = "Bucket of uploads and results", settings.MEDIA_BUCKET
    if settings.MEDIA_ENDPOINT_URL:
        now += f", at {urlsplit(settings.MEDIA_ENDPOINT_URL).netloc}"
    if fault := get_media().fault():
        text = f"No file can be kept: {fault}. Correct MEDIA_BUCKET, MEDIA_ENDPOINT_URL and the keys."
        return [Check("bucket", title, now, text, False, must_fix=True)]
    return [Check("bucket", title, now, "It answers: a file was written, read and deleted.")]


def _secret_key() -> Check:
    title = "SECRET_KEY and encryption"
    where = (
        "from the environment" if os.environ.get("SECRET_KEY", "").strip() else "in the data folder, file secret_key"
    )
    if former := len(settings.SECRET_KEY_FALLBACKS):
        where += f"; {counted(former, 'former key')}"
    are_readable = [stored.is_readable for stored in iter_secrets()]
    n_stored, n_unreadable = len(are_readable), are_readable.count(False)
    if n_unreadable:
        text = (
            f"{n_unreadable} of {counted(n_stored, 'stored secret')} (keys of services, webhooks, second factors) "
            "cannot be read: they were encrypted with another key. Add the former key, or have them entered again."
        )
        line = setting_line("SECRET_KEY_FALLBACKS", "the former key")
        return Check("secrets", title, where, text, False, (line,), must_fix=True)
    text = f"{counted(n_stored, 'stored secret')}, encrypted and readable. " if n_stored else "No secrets are stored. "
    return Check("secrets", title, where, f"{text}Keep the key with the backup of the database.")


def _database() -> Check:
    try:
        executor = MigrationExecutor(connection)
    except OperationalError as error:
        where = connection.settings_dict["HOST"] or connection.settings_dict["NAME"]
        text = f"It does not answer ({' '.join(str(error).split())}). Start it, or correct DATABASE_URL."
        return Check("database", "Database", f"{connection.display_name} at {where}", text, False, must_fix=True)
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
        text = f"{counted(len(missing), 'migration')} of this version not done yet. Run: evalsite migrate"
    return Check("database", "Database", now, text, not missing, must_fix=bool(missing))


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
        return Check("redis", "Redis", now, text, False, must_fix=True)
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
    text += (
        "Start one:" if settings.REDIS_URL else "Start the site, or restart it." if settings.JOBS_IN_PROCESS else "Set:"
    )
    return Check("workers", "Job workers", "none", text, False, commands, must_fix=True)


def _failed_jobs(now: datetime) -> Check:
    title, page = "Failed jobs", f"{reverse('desk:jobs')}?status={Job.Status.FAILED}"
    if not (n_faults := count_faults(now - _FAULTS_SHOWN)):
        return Check("failed-jobs", title, "none", "Of the last seven days, for a fault of this site.", page=page)
    text = "They failed for a fault of this site in the last seven days. Admin → Jobs says what happened, and retries."
    return Check("failed-jobs", title, counted(n_faults, "job"), text, False, page=page)


def _disk() -> Check:
    disk = get_disk()
    now = f"{disk.free / _GIGA:.1f} GB of {disk.total / _GIGA:.1f} GB free"
    text = "Nothing can be saved once it is full. Storage shows what takes most." if disk.is_low else "Enough for now."
    return Check("disk", "Disk of the data folder", now, text, not disk.is_low, must_fix=disk.is_low)


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
