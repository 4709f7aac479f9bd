"""The product's own settings and the example app, for processes that a test starts."""

from evalsite.settings import *  # noqa: F403
from evalsite.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.jobs.example"]
