"""`manage.py analyse` and `manage.py demo`."""
