"""The command `evalsite`, which `manage.py` runs too: Django is set up only for the command that was asked for."""

import os
import sys
from importlib import import_module

from campaigns.examples import EXAMPLES
from evalsite.lib.version import __version__

_OF_FILES = "Analyse files, without a database"
# What `evalsite --help` lists.
GROUPS: dict[str, dict[str, str]] = {
    "Try it": {
        "demo": f"load {len(EXAMPLES)} example campaigns and serve them on this machine",
        "simulate": "send a simulated crowd, whose truth is known, to a running campaign",
        "crowd_simulator": "run simulators of Mechanical Turk and Prolific on this machine",
    },
    _OF_FILES: {
        "analyse": "analyse a file of ratings: worker tests, standardised scores, ranking",
        "agreement": "measure how far workers agree",
        "metrics": "compare automatic metrics with human scores",
        "plan": "plan a campaign: power by simulation, workers, cost and time",
    },
    "Run an installation": {
        "serve": "prepare the database and serve the site",
        "worker": "run jobs in a process of its own (with Redis)",
        "check": "say what is wrong with this installation, and how to fix it",
        "backup": "write database, uploads and key into one file, also while the site runs",
        "restore": "put back what a backup holds",
        "rotate-key": "encrypt stored secrets with a new SECRET_KEY",
        "migrate": "bring the database to this version",
        "createsuperuser": "make an administrator's account",
        "changepassword": "set the password of an account",
        "reset_second_factor": "let somebody sign in without the codes of a lost phone",
        "create_token": "make an API token for a user",
        "datasheet": "print the Human Evaluation Datasheet of a campaign",
        "models": "list neural models, and what is wrong with one",
    },
}
# Django has a command `check`, which is about the code, and no names with a hyphen.
_NAMES = {"check": "check_installation", "rotate-key": "rotate_key"}


def describe() -> str:
    """Return the list of commands."""
    lines = [f"evalsite {__version__}: human evaluation campaigns of language systems", "", "evalsite COMMAND …"]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:<16} {text}" for name, text in commands.items())]
    lines += ["", "`evalsite COMMAND --help` lists the options of one; `evalsite help`, further commands."]
    return "\n".join(lines)


def run(arguments: list[str]) -> None:
    """Run a management command; `arguments` begin with the name of the program, as `sys.argv` does.

    Settings that cannot be read end the process with one line that says why. Those that analyse files read none, and
    do not wait for the apps.
    """
    from evalsite.lib.memory import collect_seldom

    collect_seldom()
    if GROUPS[_OF_FILES].keys() & set(arguments[1:2]):
        from evalsite.lib.plugins import place_of

        import_module(f"{place_of('analysis')}.management.commands.{arguments[1]}").Command().run_from_argv(arguments)
        return
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    try:
        _ = settings.INSTALLED_APPS  # reads them
    except (ImproperlyConfigured, ValueError, OSError) as error:
        sys.exit(f"The settings cannot be used: {error}")
    execute_from_command_line(arguments)


def main() -> None:
    """Run `evalsite …`."""
    first, *rest = sys.argv[1:] or ["--help"]
    if first in ("-h", "--help"):
        sys.stdout.write(f"{describe()}\n")
    elif first in ("-V", "--version"):
        sys.stdout.write(f"{__version__}\n")
    else:
        run(["evalsite", _NAMES.get(first, first), *rest])
