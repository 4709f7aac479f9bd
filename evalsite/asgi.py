"""The web application for ASGI servers."""

from django.core.asgi import get_asgi_application

from evalsite.warming import ready

application = ready(get_asgi_application)
