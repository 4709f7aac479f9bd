import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_responses'),
    ]

    operations = [
        migrations.AlterField(
            model_name='response',
            name='score',
            field=models.FloatField(null=True),
        ),
        migrations.AlterField(
            model_name='response',
            name='assignment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotation.assignment'),
        ),
        migrations.AlterField(
            model_name='response',
            name='criterion',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='campaigns.criterion'),
        ),
        migrations.AlterField(
            model_name='response',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='campaigns.hititem'),
        ),
        migrations.AddConstraint(
            model_name='response',
            constraint=models.UniqueConstraint(fields=('assignment', 'item', 'criterion'), name='annotation_response_once'),
        ),
        migrations.AddConstraint(
            model_name='response',
            constraint=models.CheckConstraint(condition=models.Q(('abstained', ''), ('score', None), _connector='OR'), name='annotation_response_abstained'),
        ),
    ]
