"""Addresses of the analysis pages."""

from collections.abc import Callable, Iterable
from functools import partial

from django.urls import URLPattern, path

from campaigns.contracts.result_pages import RESULT_PAGES, ResultPage
from evalsite.lib.late import LateFunction, LateModule

campaigns = LateModule("analysis.web.views.campaigns")
comparisons = LateModule("analysis.web.views.comparisons")
datasheets = LateModule("analysis.web.views.datasheets")
deletion = LateModule("analysis.web.views.deletion")
files = LateModule("analysis.web.views.files")
judges = LateModule("analysis.web.views.judges")
metrics = LateModule("analysis.web.views.metrics")
pages_of_results = LateModule("analysis.web.views.pages")
plans = LateModule("analysis.web.views.plans")
runs = LateModule("analysis.web.views.runs")
sharing = LateModule("analysis.web.views.sharing")


def _pages(
    route: str, pages: Iterable[ResultPage], view: LateFunction, name: Callable[[ResultPage], str]
) -> list[URLPattern]:
    """Return the addresses of pages below that of a result, and those that were theirs; `name` with its namespace."""
    patterns = []
    for page in pages:
        shown = view.made_by(partial(_call, page))
        patterns.append(path(route + page.path, shown, name=name(page).partition(":")[2]))
        moved = pages_of_results.moved.made_by(partial(_call, name(page)))
        patterns += [path(f"{route}{former}/", moved) for former in page.former]
    return patterns


def _call(argument: object, make: Callable[[object], object]) -> object:
    return make(argument)


app_name = "analysis"
urlpatterns = [
    path("", files.ratings, name="ratings"),
    path("new/", files.upload, name="upload"),
    path("ratings/<uuid:ratings_file_id>/", files.ratings_file, name="ratings_file"),
    path("ratings/<uuid:ratings_file_id>/columns/", files.columns, name="columns"),
    path("ratings/<uuid:ratings_file_id>/protocol/", files.protocol, name="protocol"),
    path("ratings/<uuid:ratings_file_id>/delete/", deletion.ratings_file, name="delete_file"),
    path("compare/", comparisons.compare, name="compare_any"),
    path("compare/file/", comparisons.comparison_file, name="comparison_file"),
    path("plan/", plans.plans, name="plans"),
    path("plans/<uuid:plan_id>/job/", plans.plan_job, name="plan_job"),
    path("plans/<uuid:plan_id>/delete/", plans.delete, name="delete_plan"),
    path("plans/<uuid:plan_id>/<str:name>", plans.plan_file, name="plan_file"),
    *_pages("runs/<uuid:run_id>/", RESULT_PAGES, pages_of_results.of_run, lambda page: f"analysis:{page.slug}"),
    path("runs/<uuid:run_id>/job/", runs.run_job, name="run_job"),
    path("runs/<uuid:run_id>/delete/", deletion.run, name="delete_run"),
    path("runs/<uuid:run_id>/metrics/upload/", metrics.upload, name="metric_upload"),
    path("runs/<uuid:run_id>/metrics/compute/", metrics.compute, name="metric_compute"),
    path("runs/<uuid:run_id>/metrics/<uuid:scores_id>/", metrics.encoding, name="metric_encoding"),
    path("runs/<uuid:run_id>/metrics/<uuid:scores_id>/remove/", metrics.remove, name="metric_remove"),
    path("runs/<uuid:run_id>/chats/corpus/", runs.corpus, name="corpus"),
    path("runs/<uuid:run_id>/workers.csv", runs.workers_csv, name="workers_csv"),
    path("runs/<uuid:run_id>/files/<path:name>", runs.run_file, name="run_file"),
    path("campaigns/<uuid:public_id>/", campaigns.results, name="campaign_results"),
    *_pages(
        "campaigns/<uuid:public_id>/results/",
        RESULT_PAGES[1:],  # the first has what concerns the campaign besides
        pages_of_results.of_campaign,
        lambda page: f"analysis:{page.in_campaign}",
    ),
    path("campaigns/<uuid:public_id>/datasheet/", datasheets.datasheet, name="campaign_datasheet"),
    path(
        "campaigns/<uuid:public_id>/datasheet.<str:suffix>", datasheets.datasheet_file, name="campaign_datasheet_file"
    ),
    path("campaigns/<uuid:public_id>/share/", sharing.create, name="share"),
    path("campaigns/<uuid:public_id>/share/<int:link_id>/revoke/", sharing.revoke, name="revoke_share"),
    path("campaigns/<uuid:public_id>/plan/", plans.campaign_plan, name="campaign_plan"),
    path("campaigns/<uuid:public_id>/workers/", campaigns.workers, name="campaign_live_workers"),
    path("campaigns/<uuid:public_id>/looks.csv", campaigns.looks, name="looks"),
    path("campaigns/<uuid:public_id>/judges/add/<slug:connector>/", judges.add, name="judge_add"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/", judges.judge, name="judge"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/start/", judges.start, name="judge_start"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/stop/", judges.cancel, name="judge_stop"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/keys/", judges.secrets, name="judge_keys"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/remove/", judges.remove, name="judge_remove"),
    path("campaigns/<uuid:public_id>/judges/<uuid:judge_id>/answers.csv", judges.answers, name="judge_answers"),
    path("campaigns/<uuid:public_id>/jobs/<uuid:job_id>/", campaigns.job, name="campaign_job"),
]

shared = (
    [
        *_pages(
            "<str:token>/",
            (page for page in RESULT_PAGES if page.is_shared),
            pages_of_results.of_link,
            lambda page: f"shared:{page.slug}",
        ),
        path("<str:token>/files/<path:name>", sharing.file, name="file"),
    ],
    "shared",
)
"""What a share link shows, for everybody who has it."""
