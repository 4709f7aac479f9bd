"""Answers that are kept for requests that are sent again: they may name a worker."""

from django.db.models import TextField
from django.db.models.functions import Cast

from api.models import KeyedRequest
from campaigns.contracts.records import Erasure, Records


class ApiRecords(Records):
    """Answers of the API, which are kept for a week."""

    slug = "api"

    def erase(self, erasure: Erasure) -> None:
        """Forget answers with the worker's name: a request that is sent again is done again, or refused."""
        answers = KeyedRequest.objects.annotate(text=Cast("content", TextField()))
        answers.filter(text__contains=erasure.name).delete()
