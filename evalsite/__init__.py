"""evalsite: human evaluation campaigns of language systems."""

from evalsite.celery import app as celery_app

__all__ = ["celery_app"]
__version__ = "0.1.0"
