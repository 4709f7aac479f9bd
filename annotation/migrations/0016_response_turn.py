from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_earlier'),
        ('campaigns', '0018_turn_scope'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='response',
            name='annotation_response_once',
        ),
        migrations.AddField(
            model_name='response',
            name='turn',
            field=models.PositiveSmallIntegerField(default=0, verbose_name='the reply that it is about'),
        ),
        migrations.AddConstraint(
            model_name='response',
            constraint=models.UniqueConstraint(fields=('assignment', 'item', 'criterion', 'turn'), name='annotation_response_once'),
        ),
    ]
