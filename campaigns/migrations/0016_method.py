"""Campaigns say by which response method they are analysed; those of before by direct assessment, as they were."""

from typing import Any

from django.db import migrations, models

_BEFORE, _NOW = "da-likert", "likert"


def _rename(before: str, after: str) -> Any:
    def rename(apps: Any, schema_editor: Any) -> None:
        apps.get_model("campaigns", "Campaign").objects.filter(protocol=before).update(protocol=after)

    return rename


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0015_pages")]
    operations = [
        migrations.AddField(
            model_name="campaign",
            name="method",
            field=models.CharField(default="direct_assessment", max_length=50, verbose_name="response method"),
        ),
        migrations.AddField(
            model_name="campaign",
            name="method_options",
            field=models.JSONField(blank=True, default=dict, verbose_name="options of its response method"),
        ),
        migrations.RunPython(_rename(_BEFORE, _NOW), _rename(_NOW, _BEFORE)),
    ]
