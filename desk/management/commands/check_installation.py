"""`evalsite check`: what is wrong with an installation, in words."""

from typing import Any

from django.core import checks
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from desk.system import Check, Visit, list_checks
from evalsite.lib.words import counted


class Command(BaseCommand):
    """The page *System* on the command line, which also works where no page does."""

    help = "Say what is wrong with this installation, and how to fix it. Exit status 1 if anything must be fixed."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print all checks, then how many there is something to do about."""
        found = [*list_checks(Visit.by_settings(), timezone.now(), tries_network=True), _of_django()]
        for check in found:
            self._print(check)
        n_faults = sum(check.must_fix for check in found)
        n_notes = sum(not (check.is_ok or check.must_fix) for check in found)
        if n_notes:
            self.stdout.write(f"{counted(n_notes, 'part')} of the set-up should have attention.")
        if n_faults:
            raise CommandError(f"{counted(n_faults, 'part')} of the set-up must be fixed.")
        self.stdout.write("Nothing must be fixed.")

    def _print(self, check: Check) -> None:
        state = "OK" if check.is_ok else "FIX" if check.must_fix else "note"
        self.stdout.write(f"{state:<5} {check.title}: {check.now}")
        if not check.is_ok:
            for line in (check.text, *check.lines):
                self.stdout.write(f"      {line}")


def _of_django() -> Check:
    """Return what Django's own checks of settings and code find."""
    faults = [message for message in checks.run_checks() if message.is_serious()]
    if not faults:
        return Check("django", "Settings and code", "no fault found", "")
    text = " ".join(f"{message.msg} {message.hint or ''}".strip() for message in faults)
    return Check("django", "Settings and code", counted(len(faults), "fault"), text, False, must_fix=True)
