"""The datasheet of a campaign (HEDS): read, completed, and as a file; and answers to its data statement."""

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from analysis.results.exports import dump_json
from analysis.results.paper import heds
from analysis.web.forms.runs import AnswersForm
from analysis.web.queries.campaigns import get_datasheet, get_documents
from analysis.web.services.datasheets import save_answers
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, has_role
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest


@campaign_view("GET", "POST")
def datasheet(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the sheet; editors complete it. `?read` shows it as a document, as viewers see it."""
    sections, statement = get_documents(campaign)
    sections = [*sections, heds.Section("", "Data statement", statement)]
    questions = [question for section in sections for question in section.questions]
    form = AnswersForm(questions, sent(request))

    def save(changes: dict[str, str]) -> None:
        save_answers(campaign=campaign, user=request.user, answers=changes)

    if answer := save_form(request, form, save, reload="#open"):
        return answer
    can_write = has_role(campaign, Role.EDITOR) and "read" not in request.GET
    context = campaign_context(campaign, "datasheet") | {
        "sections": [(each, [(question, form[question.key]) for question in each.questions]) for each in sections],
        "form": form,
        "n_open": sum(question.is_open for question in questions),
        "n_questions": len(questions),
        "can_write": can_write,
        "version": heds.VERSION,
        "reference": heds.REFERENCE,
    }
    return render_form(request, "analysis/datasheet.html", context, is_refused=form.is_bound)


@campaign_view("GET", "HEAD")
def datasheet_file(request: SignedInRequest, campaign: Campaign, suffix: str) -> HttpResponse:
    """Send the sheet as JSON or Markdown."""
    sections = get_datasheet(campaign)
    if suffix == "json":
        content, kind = dump_json(heds.to_document(campaign.name, sections)), "application/json"
    elif suffix == "md":
        content, kind = heds.to_markdown(campaign.name, sections), "text/markdown; charset=utf-8"
    else:
        raise Http404
    response = HttpResponse(content, content_type=kind)
    name = f"{slugify(campaign.name, allow_unicode=True) or 'campaign'}-heds.{suffix}"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response
