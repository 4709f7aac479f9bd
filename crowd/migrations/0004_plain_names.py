import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    """Names that say what is stored: when to poll, which discrepancy, the platform's payload. Rows stay as they are."""

    dependencies = [("crowd", "0003_notifications")]

    operations = [
        # A rename does not reach the condition of an index.
        migrations.RemoveIndex("posting", "crowd_posting_look"),
        migrations.RenameField("posting", "look_at", "poll_at"),
        migrations.RenameField("submission", "trouble", "discrepancy"),
        migrations.RenameField("submission", "told", "payload"),
        migrations.AlterField(
            "posting",
            "poll_at",
            models.DateTimeField(blank=True, null=True, verbose_name="to be polled, from then on"),
        ),
        migrations.AlterField(
            "posting", "seen_at", models.DateTimeField(blank=True, null=True, verbose_name="last polled")
        ),
        migrations.AlterField(
            "submission",
            "payload",
            models.JSONField(blank=True, default=dict, verbose_name="the platform's answer, as it was"),
        ),
        migrations.AlterField("order", "message", models.TextField(blank=True, verbose_name="message to the worker")),
        migrations.AlterField(
            "order",
            "token",
            models.UUIDField(
                default=uuid.uuid4, unique=True, verbose_name="request token, stored before the platform is called"
            ),
        ),
        migrations.AddIndex(
            "posting",
            models.Index(
                condition=models.Q(("poll_at__isnull", False)), fields=["poll_at"], name="crowd_posting_poll"
            ),
        ),
    ]
