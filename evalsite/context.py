"""What every template may show."""

from django.http import HttpRequest

from evalsite import __version__


def version(request: HttpRequest) -> dict[str, str]:
    """Return the version of evalsite."""
    return {"evalsite_version": __version__}
