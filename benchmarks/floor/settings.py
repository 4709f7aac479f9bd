"""The product's settings, with the floor beside it."""

from evalsite.settings import *  # noqa: F403
from evalsite.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.floor"]
ROOT_URLCONF = "benchmarks.floor.urls"
