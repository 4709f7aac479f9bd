"""`evalsite rotate-key`: what a former SECRET_KEY has encrypted, encrypted with the present one."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk.secrets import encrypt_anew
from evalsite.lib.words import counted


class Command(BaseCommand):
    """To be run once SECRET_KEY is a new one and SECRET_KEY_FALLBACKS has the former. Safe while the site runs."""

    help = "Encrypt stored secrets with a new SECRET_KEY. SECRET_KEY_FALLBACKS must have the former one."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Encrypt, and say what was done and when the former key may go."""
        done = encrypt_anew()
        for kind, n in sorted(done.encrypted.items()):
            self.stdout.write(f"Encrypted with the present key: secrets of {counted(n, kind)}.")
        for kind, n in sorted(done.were_new.items()):
            self.stdout.write(f"Encrypted with it before: secrets of {counted(n, kind)}.")
        if not (done.encrypted or done.were_new or done.unreadable):
            self.stdout.write("No secrets are stored.")
        if done.unreadable:
            names = ", ".join(done.unreadable[:10]) + (" and others" if len(done.unreadable) > 10 else "")
            text = f"{counted(len(done.unreadable), 'row')} cannot be read with SECRET_KEY or SECRET_KEY_FALLBACKS"
            raise CommandError(f"{text}: {names}. Add the key that encrypted them, or have the secrets entered again.")
        if settings.SECRET_KEY_FALLBACKS:
            self.stdout.write(
                "No stored secret needs a former key any more. Links and sessions of before do: take it out of "
                "SECRET_KEY_FALLBACKS once HITs under way are finished and personal links have been sent again."
            )
