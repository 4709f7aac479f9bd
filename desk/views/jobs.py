"""Background jobs of all users: what runs, waits and failed, and who works."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from campaigns.views.access import render_form
from desk.forms import JobFilter
from desk.jobs import describe_jobs
from desk.navigation import desk_context
from desk.system import worker_commands
from desk.views.access import admin_view
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.models import Job
from evalsite.jobs.queries import count_jobs, get_workers, list_jobs
from evalsite.jobs.services import retry_job
from evalsite.lib.acts import note_refusal
from evalsite.lib.errors import DomainError

_PAGE = 25


@admin_view("GET")
def jobs(request: SignedInRequest) -> HttpResponse:
    """List the jobs that match, newest first."""
    form = JobFilter(request.GET)
    is_valid = form.is_valid()
    found = list_jobs(**form.cleaned_data) if is_valid else Job.objects.none()
    page = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    context = desk_context("jobs") | {
        "form": form,
        "is_filtered": not is_valid or any(form.cleaned_data.values()),
        "page_obj": page,
        "rows": describe_jobs(list(page), seen_by=request.user),
        "counts": count_jobs(),
        "workers": get_workers(timezone.now()),
        "commands": worker_commands(),
    }
    return render_form(request, "desk/jobs.html", context, is_refused=not is_valid)


@admin_view("POST")
def retry(request: SignedInRequest, job_id: UUID) -> HttpResponse:
    """Queue a failed job again."""
    try:
        retry_job(get_object_or_404(Job, pk=job_id), by_administrator=True)
        messages.success(request, "The job is queued again.")
    except DomainError as error:
        messages.error(request, error.message)
        note_refusal()
    after = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(after, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(after)  # `redirect` would take some texts for names of pages
    return redirect("desk:jobs")
