"""A row to read and a row to write."""

from typing import ClassVar

from django.db import models


class Text(models.Model):
    """What the view reads."""

    text = models.TextField()

    objects: ClassVar[models.Manager["Text"]] = models.Manager()

    def __str__(self) -> str:
        return self.text


class Answer(models.Model):
    """What the view inserts."""

    text = models.ForeignKey(Text, on_delete=models.CASCADE)
    score = models.PositiveSmallIntegerField()

    objects: ClassVar[models.Manager["Answer"]] = models.Manager()

    def __str__(self) -> str:
        return str(self.score)
