"""What the command menu lists."""

from dataclasses import asdict
from uuid import UUID

from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from campaigns.commands import list_commands
from evalsite.accounts.requests import SignedInRequest


@never_cache
@require_GET
def commands(request: SignedInRequest) -> JsonResponse:
    """Answer with where the user may go; `campaign` is the one whose page shows, if any."""
    try:
        public_id = UUID(request.GET.get("campaign", ""))
    except ValueError:
        public_id = None
    return JsonResponse({"commands": [asdict(each) for each in list_commands(request.user, public_id)]})
