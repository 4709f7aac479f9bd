"""How much disk the site uses."""

from django.http import HttpResponse
from django.shortcuts import render

from desk.navigation import desk_context
from desk.storage import measure_storage
from desk.views.access import admin_view
from evalsite.accounts.requests import SignedInRequest


@admin_view("GET")
def storage(request: SignedInRequest) -> HttpResponse:
    """Show what the files and the database take, by kind, and what is largest."""
    return render(request, "desk/storage.html", desk_context("storage") | {"storage": measure_storage(request.user)})
