from django.conf import settings
from django.db import migrations, models

from evalsite.lib.kept_keys import PURPOSES, derive_key


def store_keys(apps, schema_editor):
    """Store the keys that names were made with until now, so that they stay."""
    kept_keys = apps.get_model("accounts", "KeptKey").objects
    kept_keys.bulk_create(
        kept_keys.model(purpose=purpose, key=derive_key(purpose, settings.SECRET_KEY)) for purpose in PURPOSES
    )


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0002_api_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptKey",
            fields=[
                ("purpose", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=64, verbose_name="64 hexadecimal digits")),
            ],
        ),
        migrations.RunPython(store_keys, migrations.RunPython.noop),
    ]
