"""HITs, and their items as workers see them."""

from django.db import models
from django.db.models import F, Q

from campaigns.design.composition import Kind
from campaigns.models.campaign import Campaign
from campaigns.models.systems import Output, System


class Hit(models.Model):
    """Items that one worker rates in one piece of work. `n_places_left` are the workers still wanted.

    One that is not offered is not published yet on the campaign's crowd platform.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="hits")
    number = models.PositiveIntegerField()
    n_places_left = models.PositiveSmallIntegerField(default=1)
    is_offered = models.BooleanField("offered to workers", default=True)
    weight = models.FloatField("how much it holds of undecided pairs", default=1)

    class Meta:
        ordering = ["number"]
        verbose_name = "HIT"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="campaigns_hit_number"),
            models.CheckConstraint(condition=Q(n_places_left__gte=0), name="campaigns_hit_places"),
        ]
        indexes = [
            models.Index(fields=["campaign", "number"], condition=Q(n_places_left__gt=0), name="campaigns_hit_open")
        ]

    def __str__(self) -> str:
        return f"HIT {self.number}"


class HitItem(models.Model):
    """One position of a HIT: an output as shown. A copy knows its twin's position.

    A tutorial item is of no output, so that it is in no pool, of no system and in no score; it has its own `fields`,
    which others have from their source.

    Items with the same `page` follow one another and are shown at once; without one an item is alone on its page.
    """

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField()
    kind = models.PositiveSmallIntegerField(choices=[(kind.value, kind.name.lower()) for kind in Kind])
    output = models.ForeignKey(Output, null=True, blank=True, on_delete=models.PROTECT, related_name="items")
    twin_position = models.PositiveSmallIntegerField(null=True, blank=True)
    text = models.TextField("text as shown")
    page = models.PositiveSmallIntegerField(null=True, blank=True)
    fields = models.JSONField("fields of a source, of a tutorial item", null=True, blank=True)

    class Meta:
        ordering = ["position"]
        verbose_name = "HIT item"
        constraints = [
            models.UniqueConstraint(fields=["hit", "position"], name="campaigns_hititem_position"),
            models.CheckConstraint(
                condition=Q(twin_position=None) | ~Q(twin_position=F("position")), name="campaigns_hititem_twin"
            ),
            models.CheckConstraint(
                condition=Q(kind=Kind.TUTORIAL.value, output__isnull=True, fields__isnull=False)
                | (~Q(kind=Kind.TUTORIAL.value) & Q(output__isnull=False, fields__isnull=True)),
                name="campaigns_hititem_tutorial",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit}, item {self.position}"

    @property
    def system(self) -> System:
        """The system that its output is of; a tutorial item has none."""
        assert self.output
        return self.output.system
