"""The product's addresses, and the floor's."""

from django.urls import path

from benchmarks.floor.views import floor
from evalsite.urls import urlpatterns as product

urlpatterns = [*product, path("floor/<int:pk>/", floor)]
