from django.db import migrations, models


def store_labels(apps, schema_editor):
    """Keep the labels of sliders' ends as options of the response kind."""
    Criterion = apps.get_model("campaigns", "Criterion")
    criteria = list(Criterion.objects.all())
    for criterion in criteria:
        criterion.settings = {"left_label": criterion.left_label, "right_label": criterion.right_label}
    Criterion.objects.bulk_update(criteria, ["settings"], batch_size=500)


def restore_labels(apps, schema_editor):
    """Give sliders their labels back."""
    Criterion = apps.get_model("campaigns", "Criterion")
    criteria = list(Criterion.objects.all())
    for criterion in criteria:
        for name in ("left_label", "right_label"):
            setattr(criterion, name, criterion.settings.get(name) or getattr(criterion, name))
    Criterion.objects.bulk_update(criteria, ["left_label", "right_label"], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0012_adaptive'),
    ]

    operations = [
        migrations.AddField(
            model_name='criterion',
            name='response',
            field=models.CharField(default='slider', max_length=50, verbose_name='response kind'),
        ),
        migrations.AddField(
            model_name='criterion',
            name='settings',
            field=models.JSONField(blank=True, default=dict, verbose_name='options of its response kind'),
        ),
        migrations.AddField(
            model_name='criterion',
            name='is_required',
            field=models.BooleanField(default=True, verbose_name='required'),
        ),
        migrations.AddField(
            model_name='criterion',
            name='may_abstain',
            field=models.BooleanField(default=False, verbose_name='workers may say that they cannot judge'),
        ),
        migrations.AddField(
            model_name='criterion',
            name='abstain_reasons',
            field=models.TextField(blank=True, verbose_name='reasons why, one a line'),
        ),
        migrations.RunPython(store_labels, restore_labels, elidable=True),
        migrations.RemoveField(model_name='criterion', name='left_label'),
        migrations.RemoveField(model_name='criterion', name='right_label'),
    ]
