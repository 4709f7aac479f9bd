"""Settings: one process and SQLite by default; PostgreSQL and Redis by DATABASE_URL and REDIS_URL."""

import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from evalsite.lib.databases import pool_options
from evalsite.lib.env import (
    env_bool,
    env_choice,
    env_claim,
    env_contact,
    env_former_keys,
    env_header,
    env_int,
    env_issuer,
    env_list,
    env_mail_server,
    env_networks,
    env_secret_key,
    env_sender,
    env_token,
)
from evalsite.lib.extras import missing
from evalsite.lib.folders import SITE_FILES, default_data_folder
from evalsite.lib.plugins import folders_in_packages, place_of
from evalsite.lib.private_files import PRIVATE_FILE, PRIVATE_FOLDER, PrivateConnection, make_private
from evalsite.lib.version import __version__
from evalsite.plug_ins import (  # noqa: F401
    EVALSITE_CONNECTORS,
    EVALSITE_FORMATS,
    EVALSITE_INVITED,
    EVALSITE_METHODS,
    EVALSITE_METRICS,
    EVALSITE_OVERVIEW,
    EVALSITE_PLATFORMS,
    EVALSITE_PROTOCOLS,
    EVALSITE_QUESTIONS,
    EVALSITE_RECORDS,
    EVALSITE_RESPONSE_METHODS,
    EVALSITE_RESPONSES,
    EVALSITE_RESULTS_STATE,
)

BASE_DIR = SITE_FILES  # templates, static files, guides, examples
DATA_DIR = Path(os.environ.get("EVALSITE_DATA") or default_data_folder()).absolute()
# Others may pass through, to static files that a proxy serves, and see nothing else.
try:
    DATA_DIR.mkdir(mode=0o711, parents=True, exist_ok=True)
except OSError as _error:
    _text = f"The data folder {DATA_DIR} cannot be made ({_error.strerror}). Set EVALSITE_DATA to one that can."
    raise ImproperlyConfigured(_text) from None


def _secret_key() -> str:
    """Return SECRET_KEY, or one made once and kept beside the data."""
    if key := env_secret_key("SECRET_KEY"):
        return key
    path = DATA_DIR / "secret_key"
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            path.hardlink_to(draft)  # atomic: of two processes that start together, one wins
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    make_private(path)
    return path.read_text()


SECRET_KEY = _secret_key()
# Former keys: what they signed or encrypted stays valid.
SECRET_KEY_FALLBACKS = env_former_keys("SECRET_KEY_FALLBACKS")
# What reads the keys of names that stay the same under another SECRET_KEY; "": the present one makes them.
EVALSITE_KEPT_KEYS = "evalsite.accounts.kept_keys.stored_keys"
DEBUG = env_bool("DEBUG", False)
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "evalsite.accounts",
    "evalsite.jobs",
    "evalsite.audit",
    "evalsite.undo",
    *map(place_of, ("campaigns", "annotation", "analysis", "crowd", "api", "desk")),
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "evalsite.lib.context.name_requests",
    "evalsite.lib.measures.measure_requests",
    "evalsite.web.guard_pages",
    "evalsite.web.PolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "evalsite.accounts.requests.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "evalsite.audit.recording.AuditMiddleware",
]

ROOT_URLCONF = "evalsite.urls"
WSGI_APPLICATION = "evalsite.wsgi.application"

TEMPLATES = [
    {
        "NAME": "django",
        "BACKEND": "evalsite.lib.templates.Templates",
        "DIRS": [BASE_DIR / "templates", *folders_in_packages("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "evalsite.web.version",
                "evalsite.accounts.oidc_views.ways_to_sign_in",
                "evalsite.help.pages.page_guide",
            ],
            "libraries": {"request_id": "evalsite.lib.context"},
        },
    },
]

# --- Databases (SQLite's options were measured: Django's defaults lose writes under eight writers)
# Connections to PostgreSQL that the threads of a process share, at most; 0: each thread has its own. A web process has
# many threads, most of which wait for a chatbot and hold none meanwhile; Celery's worker forks, which a pool does not
# survive. So evalsite/warming.py sets it, and nothing else.
DATABASE_POOL = env_int("DATABASE_POOL", 0)
DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'db.sqlite3'}",
        conn_max_age=0 if DATABASE_POOL else 60,
        conn_health_checks=True,
        disable_server_side_cursors=not env_bool("SERVER_SIDE_CURSORS", True),
    )
}
# FULL writes each commit to the disk before it is acknowledged; after NORMAL a power cut may lose the last ones.
SQLITE_SYNCHRONOUS = env_choice("SQLITE_SYNCHRONOUS", ("FULL", "NORMAL"))
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"] |= {
        "CONN_MAX_AGE": 60,  # to open one takes a millisecond
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "factory": PrivateConnection,
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={SQLITE_SYNCHRONOUS};",
        },
    }
    for _ending in ("", "-wal", "-shm"):
        make_private(Path(f"{DATABASES['default']['NAME']}{_ending}"))
elif DATABASE_POOL:
    DATABASES["default"]["OPTIONS"] = {
        **DATABASES["default"].get("OPTIONS", {}),
        "pool": pool_options(DATABASE_POOL),
    }
    DATABASES["default"] |= {"ENGINE": "evalsite.lib.postgresql", "CONN_HEALTH_CHECKS": False}  # it checks them itself
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Accounts
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:sign_in"
# Administrators see no page before they have set up a second factor.
ADMINS_NEED_SECOND_FACTOR = env_bool("ADMINS_NEED_SECOND_FACTOR", False)
# Whether accounts have passwords to sign in with; without, only a provider or a proxy signs people in.
PASSWORD_SIGN_IN = env_bool("PASSWORD_SIGN_IN", True)
# An OpenID Connect provider that signs people in; it needs the first three.
OIDC_ISSUER = env_issuer("OIDC_ISSUER")
OIDC_CLIENT_ID = os.environ.get("OIDC_CLIENT_ID", "").strip()
OIDC_CLIENT_SECRET = os.environ.get("OIDC_CLIENT_SECRET", "").strip()
OIDC_NAME = os.environ.get("OIDC_NAME", "").strip()
OIDC_SCOPES = env_list("OIDC_SCOPES", ["openid", "email", "profile"])
# Whom it may sign in here: by the domain of the address, and by a claim with this value; empty: everybody.
OIDC_DOMAINS = env_list("OIDC_DOMAINS", [])
OIDC_REQUIRED_CLAIM = env_claim("OIDC_REQUIRED_CLAIM")
# Whether every address of this provider is verified, although it does not say so.
OIDC_EMAIL_IS_VERIFIED = env_bool("OIDC_EMAIL_IS_VERIFIED", False)
# The role of accounts that are made at the first sign-in; NONE: only those of people who were invited are made.
OIDC_NEW_ACCOUNTS = env_choice("OIDC_NEW_ACCOUNTS", ("NONE", "RESEARCHER", "ADMINISTRATOR"))
# Who asks for the second factor: the site; the provider, where its `amr` says so; always the provider.
OIDC_SECOND_FACTOR = env_choice("OIDC_SECOND_FACTOR", ("SITE", "AMR", "PROVIDER"))
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- Mail: for a forgotten password. Without a server nothing is sent, or written to the log in its place.
_mail = env_mail_server("EMAIL_URL")
EMAIL_BACKEND = (
    os.environ.get("EMAIL_BACKEND") or f"django.core.mail.backends.{'smtp' if _mail else 'dummy'}.EmailBackend"
)
if _mail:
    EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_TLS, EMAIL_USE_SSL = _mail
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env_sender("DEFAULT_FROM_EMAIL", _mail)

# --- Jobs: Redis and real workers where REDIS_URL is set, else a worker thread in the web process
REDIS_URL = os.environ.get("REDIS_URL", "")
JOBS_IN_PROCESS = env_bool("JOBS_IN_PROCESS", not REDIS_URL)
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

# --- Caches. `default` holds what can be computed again, in the memory of each process. Counters of rate limits, and
# what distinguishes the clients of open links, are shared by the processes where there is Redis; a request waits for it
# at most that long.
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "default"},
    "rate_limits": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "rate_limits",
        "OPTIONS": {"MAX_ENTRIES": 50_000},
    },
}
if REDIS_URL:
    CACHES["rate_limits"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "evalsite",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }

# --- Files
STATIC_URL = "static/"
# The guides of the site, their images, and the examples that they link to.
GUIDES_DIR, EXAMPLES_DIR = BASE_DIR / "docs", BASE_DIR / "examples"
STATICFILES_DIRS = [BASE_DIR / "static", ("guides", GUIDES_DIR / "images"), *folders_in_packages("static")]
STATIC_ROOT = DATA_DIR / "static"
MEDIA_ROOT = DATA_DIR / "media"
MEDIA_ROOT.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
make_private(MEDIA_ROOT)
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = PRIVATE_FILE, PRIVATE_FOLDER
# A bucket of storage that speaks the protocol of S3, instead of MEDIA_ROOT; without keys, those that boto3 finds.
MEDIA_BUCKET = os.environ.get("MEDIA_BUCKET", "")
MEDIA_ENDPOINT_URL = os.environ.get("MEDIA_ENDPOINT_URL", "")
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "evalsite.lib.media.DiskStorage"},
    "staticfiles": {
        "BACKEND": "evalsite.web.ManifestStaticStorage",
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}
MEDIA_ACCESS_KEY_ID = os.environ.get("MEDIA_ACCESS_KEY_ID", "")
MEDIA_SECRET_ACCESS_KEY = os.environ.get("MEDIA_SECRET_ACCESS_KEY", "")
if bool(MEDIA_ACCESS_KEY_ID) != bool(MEDIA_SECRET_ACCESS_KEY):
    raise ImproperlyConfigured("Set both MEDIA_ACCESS_KEY_ID and MEDIA_SECRET_ACCESS_KEY, or neither.")
if MEDIA_BUCKET:
    if _lacking := missing("s3", "MEDIA_BUCKET"):
        raise ImproperlyConfigured(_lacking)
    STORAGES["default"] = {
        "BACKEND": "evalsite.lib.bucket.BucketStorage",
        "OPTIONS": {
            "bucket_name": MEDIA_BUCKET,
            "endpoint_url": MEDIA_ENDPOINT_URL or None,
            "region_name": os.environ.get("MEDIA_REGION") or None,
            "location": os.environ.get("MEDIA_PREFIX", "").strip("/"),
        },
    }
    if MEDIA_ACCESS_KEY_ID:
        _keys = {"access_key": MEDIA_ACCESS_KEY_ID, "secret_key": MEDIA_SECRET_ACCESS_KEY, "security_token": None}
        STORAGES["default"]["OPTIONS"] |= _keys
# The largest file taken from a browser; the command line takes any size.
MAX_UPLOAD_MB = env_int("MAX_UPLOAD_MB", 100)
# Characters of a text that workers are shown; longer ones are refused at the import. campaigns/importing has the cost.
LONGEST_TEXT = env_int("LONGEST_TEXT", 20_000)
FILE_UPLOAD_HANDLERS = [
    "evalsite.web.SizeLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Where an administrator puts the folders of neural models, and how many texts these read at once.
EVALSITE_MODELS = Path(os.environ.get("EVALSITE_MODELS") or DATA_DIR / "models")
MODEL_BATCH = max(env_int("MODEL_BATCH", 16), 1)

# --- Chats
# Hosts (or host:port, *.domain, or * for every public host) at which chatbots may be called. A private address is
# refused unless its host is named here as it is.
CHATBOT_HOSTS = env_list("CHATBOT_HOSTS", ["api.openai.com"])
# Hosts, likewise, that webhooks may be sent to. One that is named as it is may be sent to without https, too.
WEBHOOK_HOSTS = env_list("WEBHOOK_HOSTS", ["*"])
# Classes that the connector “Python class” may use, by dotted path.
_DEMO_BOTS = "campaigns.connectors.python.demo_bots"
CHATBOT_CLASSES = env_list("CHATBOT_CLASSES", [f"{_DEMO_BOTS}.{name}" for name in ("Attentive", "Plain", "Forgetful")])
# Requests of one process that may wait for chatbots at a time: fewer than its threads, or nobody else is answered.
CHATS_AT_ONCE = env_int("CHATS_AT_ONCE", 48)

# --- Crowd platforms
# The address at which workers reach this installation; without it, the one at which a researcher publishes.
SITE_URL = os.environ.get("SITE_URL", "").rstrip("/")
# Keys for campaigns that have none of their own.
MTURK_ACCESS_KEY_ID = os.environ.get("MTURK_ACCESS_KEY_ID", "")
MTURK_SECRET_ACCESS_KEY = os.environ.get("MTURK_SECRET_ACCESS_KEY", "")
PROLIFIC_TOKEN = os.environ.get("PROLIFIC_TOKEN", "")
# A simulator instead of Mechanical Turk's sandbox (and of its queue), and of Prolific.
MTURK_SANDBOX_URL = os.environ.get("MTURK_SANDBOX_URL", "")
PROLIFIC_URL = os.environ.get("PROLIFIC_URL", "")
# Further sites (origins) that may show worker pages in a frame and have finished work submitted to them: a simulator,
# or a platform that speaks Mechanical Turk's external questions.
EXTERNAL_SITES = env_list("EXTERNAL_SITES", [])

# --- Security
SECURE_COOKIES = env_bool("SECURE_COOKIES", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_HTTPONLY = False  # autosave.js reads the present one: a page may be older than it
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# For how long browsers that came by HTTPS refuse plain HTTP to this host, at all its ports. Sign-ins need HTTPS where
# cookies do, so there it is on; thirty days, since no browser can be made to forget a mistake.
SECURE_HSTS_SECONDS = env_int("HSTS_SECONDS", 30 * 24 * 3600 if SECURE_COOKIES else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env_bool("HSTS_SUBDOMAINS", False)
BEHIND_PROXY = env_bool("BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# A header in which the proxy says who somebody is, by e-mail address, or by a name before this domain; "": none.
REMOTE_USER_HEADER = env_header("REMOTE_USER_HEADER")
REMOTE_USER_DOMAIN = os.environ.get("REMOTE_USER_DOMAIN", "").strip().lstrip("@")
REMOTE_USER_PROXIES = env_networks("REMOTE_USER_PROXIES", ["127.0.0.1", "::1"])
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# What no page uses, not even one that it frames, or that is put into it.
DENIED_DEVICES = ("camera", "geolocation", "microphone")
SECURE_CROSS_ORIGIN_OPENER_POLICY = None  # of pages alone: evalsite.web.guard_pages
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# Whom to tell of a weakness of the site, in /.well-known/security.txt; "": there is none.
SECURITY_CONTACT = env_contact("SECURITY_CONTACT")
# Days for which the audit log is kept; 0: for good.
AUDIT_LOG_DAYS = env_int("AUDIT_LOG_DAYS", 730)

# --- The API
REST_FRAMEWORK = {
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_SCHEMA_CLASS": place_of("api.schema.OperationSchema"),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "evalsite",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "PREPROCESSING_HOOKS": [place_of("api.schema.only_operations")],
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [place_of("api.schema.any_or_null"), place_of("api.schema.describe_groups")],
}
# Requests of one token, or of one browser, in a minute.
API_REQUESTS_PER_MINUTE = env_int("API_REQUESTS_PER_MINUTE", 600)

# --- What a program that watches the site reads at /metrics/, with this token; without one there is no such page.
METRICS_TOKEN = env_token("METRICS_TOKEN")

# --- The rest
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
LOG_FORMAT = env_choice("LOG_FORMAT", ("TEXT", "JSON"))
# Django's own default loses tracebacks when DEBUG is off.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    # No token of a worker or of a mailed link is written: with it, a reader of the log could continue as that person.
    "formatters": {
        "text": {
            "()": "evalsite.lib.logs.TextFormatter",
            "fmt": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "evalsite.lib.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT.lower()}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL") or "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "boto3": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        "matplotlib": {"level": "WARNING"},
    },
}
