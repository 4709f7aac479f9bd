"""Acts that can be taken back for a while."""

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class RowEncoder(DjangoJSONEncoder):
    """Writes values of rows; times with their microseconds, which Django's leaves out."""

    def default(self, o: Any) -> Any:
        """Return a value as JSON has it."""
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


class Act(models.Model):
    """What somebody did, and what takes it back: values, rows that were deleted, files that wait for their end."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField("name of what takes it back (evalsite.undo.acts)", max_length=50)
    words = models.CharField("what was done, as a sentence", max_length=300)
    page = models.CharField("where it can be taken back", max_length=500)
    campaign = models.UUIDField("public id", null=True)
    values: Any = models.JSONField("what takes it back", default=dict)
    rows: Any = models.JSONField("deleted rows, those first that others refer to", default=list, encoder=RowEncoder)
    files: Any = models.JSONField("names of files that go when it expires", default=list)
    folders: Any = models.JSONField("folders of files that go when it expires", default=list)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.words
