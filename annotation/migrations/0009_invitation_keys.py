import django.db.models.functions.text
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import migrations, models
from django.db.models import Q

import annotation.models


def fill(apps, schema_editor):
    """Give each invitation a key, and the address that its rater is called by."""
    changed = []
    for invitation in apps.get_model("annotation", "Invitation").objects.select_related("worker").iterator():
        invitation.key = annotation.models.new_invitation_key()
        name = invitation.worker.key.rsplit(":", 1)[-1]
        try:
            validate_email(name)
            invitation.email = name
        except ValidationError:
            pass
        changed.append(invitation)
    model = apps.get_model("annotation", "Invitation")
    model.objects.bulk_update(changed, ["key", "email"], batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_erased")]

    operations = [
        migrations.AddField("invitation", "email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
        migrations.AddField(
            "invitation", "key", models.CharField(default="", max_length=20, verbose_name="what the link carries")
        ),
        migrations.AddField(
            "invitation", "revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            "invitation",
            "key",
            models.CharField(
                default=annotation.models.new_invitation_key,
                max_length=20,
                unique=True,
                verbose_name="what the link carries",
            ),
        ),
        migrations.AddConstraint(
            "invitation",
            models.UniqueConstraint(
                models.F("campaign"),
                django.db.models.functions.text.Lower("email"),
                condition=~Q(email=""),
                name="annotation_invitation_email",
            ),
        ),
    ]
