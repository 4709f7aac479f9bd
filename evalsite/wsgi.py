"""The web application for gunicorn and runserver."""

from django.core.wsgi import get_wsgi_application

from evalsite.warming import ready

application = ready(get_wsgi_application)
