"""The Human Evaluation Datasheet of a campaign, and what researchers write in it."""

from dataclasses import dataclass

from analysis.results.paper import heds
from analysis.results.paper.questions import Question
from analysis.web.forms.runs import AnswerForm
from analysis.web.queries.campaigns import get_documents
from analysis.web.services.datasheets import save_answers
from api.access import ApiRequest
from api.operations import Resource, operation
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from evalsite.accounts.models import Scope


@dataclass(frozen=True)
class DatasheetPart:
    """A part of the sheet with its questions; `origin` of each is campaign, researcher, or open: to be completed."""

    number: str
    title: str
    questions: list[Question]


@dataclass(frozen=True)
class Datasheet:
    """The datasheet (HEDS) and the data statement of a campaign, filled as far as they can be."""

    version: str
    reference: str
    n_open: int
    parts: list[DatasheetPart]
    data_statement: list[Question]


class DatasheetOf(Resource):
    """The datasheet of a campaign."""

    @operation(Scope.READ, returns=Datasheet)
    def get(self, request: ApiRequest, campaign: Campaign) -> Datasheet:
        """Return the datasheet (HEDS 3.0) and the data statement, with the campaign's newest result."""
        return _datasheet(campaign)

    @operation(Scope.EDIT, takes=AnswerForm, returns=Datasheet, fields={"no_such_question": "question"})
    def post(self, request: ApiRequest, campaign: Campaign) -> Datasheet:
        """Answer one question, by its key; an empty answer gives it back to the campaign."""
        data = cleaned(AnswerForm(sent_to(AnswerForm, request)))
        save_answers(campaign=campaign, user=request.user, answers={data["question"]: data["answer"]})
        return _datasheet(campaign)


def _datasheet(campaign: Campaign) -> Datasheet:
    sections, statement = get_documents(campaign)
    questions = [question for section in sections for question in section.questions]
    parts = [DatasheetPart(each.number, each.title, list(each.questions)) for each in sections]
    return Datasheet(heds.VERSION, heds.REFERENCE, sum(each.is_open for each in questions), parts, statement)
