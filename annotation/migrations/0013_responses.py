from django.db import migrations, models


def store_values(apps, schema_editor):
    """Keep each score as the value of its response too; one statement, whatever their number."""
    table = schema_editor.quote_name(apps.get_model("annotation", "Response")._meta.db_table)
    as_json = "to_jsonb(score)" if schema_editor.connection.vendor == "postgresql" else "CAST(score AS TEXT)"
    schema_editor.execute(f"UPDATE {table} SET value = {as_json}")


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0013_response_kinds'),
        ('annotation', '0012_draw_probability'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='rating', name='annotation_rating_once'),
        migrations.RemoveConstraint(model_name='rating', name='annotation_rating_score'),
        migrations.RenameModel(old_name='Rating', new_name='Response'),
        migrations.AddField(
            model_name='response',
            name='value',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='response',
            name='abstained',
            field=models.CharField(blank=True, default='', max_length=200, verbose_name='why it could not be judged'),
            preserve_default=False,
        ),
        migrations.RunPython(store_values, migrations.RunPython.noop, elidable=True),
    ]
