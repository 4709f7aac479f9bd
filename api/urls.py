"""Addresses of the API."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path, re_path
from django.views.decorators.http import require_GET

from evalsite.lib.late import LateFunction, LateModule

operations = LateModule("api.operations")
views = LateModule("api.views")
accounts = LateModule("api.resources.accounts")
analyses = LateModule("api.resources.analyses")
campaigns = LateModule("api.resources.campaigns")
chatbots = LateModule("api.resources.chatbots")
chats = LateModule("api.resources.chats")
comparisons = LateModule("api.resources.comparisons")
criteria = LateModule("api.resources.criteria")
data = LateModule("api.resources.data")
datasheets = LateModule("api.resources.datasheets")
decisions = LateModule("api.resources.decisions")
hits = LateModule("api.resources.hits")
jobs = LateModule("api.resources.jobs")
judges = LateModule("api.resources.judges")
metrics = LateModule("api.resources.metrics")
payments = LateModule("api.resources.payments")
plans = LateModule("api.resources.plans")
platform = LateModule("api.resources.platform")
raters = LateModule("api.resources.raters")
ratings_files = LateModule("api.resources.ratings_files")
results = LateModule("api.resources.results")
screen = LateModule("api.resources.screen")
settings = LateModule("api.resources.settings")
sharing = LateModule("api.resources.sharing")
waves = LateModule("api.resources.waves")
webhooks = LateModule("api.resources.webhooks")
work = LateModule("api.resources.work")

app_name = "api"


def _view_of(resource: Any) -> Any:
    return login_not_required(resource.as_view())  # not to the sign-in page: operations answer for themselves


def _at(address: str, resource: LateFunction, name: str) -> URLPattern:
    return path(address, resource.made_by(_view_of), name=name)


@login_not_required
@require_GET
def schema(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI schema."""
    from api.schema import get_document  # it imports drf-spectacular

    return JsonResponse(get_document(), json_dumps_params={"ensure_ascii": False})


_CAMPAIGN = "campaigns/<uuid:public_id>/"
_SUBMISSION = f"{_CAMPAIGN}submissions/<int:submission_id>/"
_FILE = "ratings-files/<uuid:ratings_file_id>/"
_RUN = "runs/<uuid:run_id>/"
urlpatterns = [
    path("schema/", schema, name="schema"),
    path("docs/", views.overview, name="docs"),
    path("docs/<slug:group>/", views.group, name="docs_group"),
    _at("account/", accounts.Account, "account"),
    _at("account/tokens/", accounts.Tokens, "tokens"),
    _at("account/tokens/<int:token_id>/", accounts.OneToken, "token"),
    _at("protocols/", campaigns.Protocols, "protocols"),
    _at("connectors/", chatbots.Connectors, "connectors"),
    _at("response-kinds/", criteria.ResponseKinds, "response_kinds"),
    _at("platforms/", platform.Platforms, "platforms"),
    _at("campaigns/", campaigns.Campaigns, "campaigns"),
    _at("design-files/", campaigns.DesignFiles, "design_files"),
    _at(_CAMPAIGN, campaigns.OneCampaign, "campaign"),
    _at(f"{_CAMPAIGN}contents/", campaigns.ContentsOf, "contents"),
    _at(f"{_CAMPAIGN}settings/", settings.General, "settings"),
    _at(f"{_CAMPAIGN}instructions/", settings.Instructions, "instructions"),
    _at(f"{_CAMPAIGN}chat-rules/", settings.ChatRules, "chat_rules"),
    _at(f"{_CAMPAIGN}screen/", screen.ScreenOf, "screen"),
    _at(f"{_CAMPAIGN}screen/fields/", screen.Fields, "fields"),
    _at(f"{_CAMPAIGN}screen/fields/<str:name>/", screen.OneField, "field"),
    _at(f"{_CAMPAIGN}screen/fields/<str:name>/place/", screen.FieldPlace, "field_place"),
    _at(f"{_CAMPAIGN}design/", settings.Design, "design"),
    _at(f"{_CAMPAIGN}design/preset/", settings.Preset, "preset"),
    _at(f"{_CAMPAIGN}design/proposals/", settings.Proposals, "proposals"),
    _at(f"{_CAMPAIGN}design/seed/", settings.Seed, "seed"),
    _at(f"{_CAMPAIGN}checklist/", campaigns.Checklist, "checklist"),
    _at(f"{_CAMPAIGN}launch/", campaigns.Launch, "launch"),
    _at(f"{_CAMPAIGN}pause/", campaigns.Pause, "pause"),
    _at(f"{_CAMPAIGN}resume/", campaigns.Resume, "resume"),
    _at(f"{_CAMPAIGN}close/", campaigns.Close, "close"),
    _at(f"{_CAMPAIGN}archive/", campaigns.Archive, "archive"),
    _at(f"{_CAMPAIGN}deletion/", campaigns.DeletionOf, "deletion"),
    _at(f"{_CAMPAIGN}copies/", campaigns.Copies, "copies"),
    _at(f"{_CAMPAIGN}design-file/", campaigns.DesignFile, "design_file"),
    _at(f"{_CAMPAIGN}related-runs/", campaigns.RelatedRuns, "related_runs"),
    _at(f"{_CAMPAIGN}members/", campaigns.Members, "members"),
    _at(f"{_CAMPAIGN}members/invitations/", campaigns.MemberInvitations, "member_invitations"),
    _at(
        f"{_CAMPAIGN}members/invitations/<int:member_invitation_id>/",
        campaigns.OneMemberInvitation,
        "member_invitation",
    ),
    _at(f"{_CAMPAIGN}members/<int:membership_id>/", campaigns.Member, "member"),
    _at(f"{_CAMPAIGN}webhooks/", webhooks.Webhooks, "webhooks"),
    _at(f"{_CAMPAIGN}webhooks/<int:webhook_id>/", webhooks.OneWebhook, "webhook"),
    _at(f"{_CAMPAIGN}webhooks/<int:webhook_id>/secret/", webhooks.WebhookSecrets, "webhook_secret"),
    _at(f"{_CAMPAIGN}webhooks/<int:webhook_id>/deliveries/", webhooks.Deliveries, "deliveries"),
    _at(f"{_CAMPAIGN}webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/send/", webhooks.SendAgain, "send_again"),
    _at(f"{_CAMPAIGN}datasheet/", datasheets.DatasheetOf, "datasheet"),
    _at(f"{_CAMPAIGN}share-links/", sharing.ShareLinks, "share_links"),
    _at(f"{_CAMPAIGN}share-links/<int:link_id>/", sharing.OneShareLink, "share_link"),
    _at(f"{_CAMPAIGN}criteria/", criteria.Criteria, "criteria"),
    _at(f"{_CAMPAIGN}criteria/order/", criteria.Order, "criteria_order"),
    _at(f"{_CAMPAIGN}criteria/<int:criterion_id>/", criteria.OneCriterion, "criterion"),
    _at(f"{_CAMPAIGN}systems/", data.Systems, "systems"),
    _at(f"{_CAMPAIGN}systems/<int:system_id>/", data.OneSystem, "system"),
    _at(f"{_CAMPAIGN}sources/", data.Sources, "sources"),
    _at(f"{_CAMPAIGN}uploads/", data.Uploads, "uploads"),
    _at(f"{_CAMPAIGN}uploads/rows/", data.Rows, "rows"),
    _at(f"{_CAMPAIGN}uploads/example-<slug:shape>.csv", data.Example, "example"),
    _at(f"{_CAMPAIGN}uploads/<uuid:upload_id>/", data.OneUpload, "upload"),
    _at(f"{_CAMPAIGN}uploads/<uuid:upload_id>/sample/", data.Sample, "upload_sample"),
    _at(f"{_CAMPAIGN}uploads/<uuid:upload_id>/import/", data.Import, "import"),
    _at(f"{_CAMPAIGN}chatbots/", chatbots.Chatbots, "chatbots"),
    _at(f"{_CAMPAIGN}chatbots/<int:chatbot_id>/", chatbots.OneChatbot, "chatbot"),
    _at(f"{_CAMPAIGN}chatbots/<int:chatbot_id>/secrets/", chatbots.Secrets, "chatbot_secrets"),
    _at(f"{_CAMPAIGN}chatbots/<int:chatbot_id>/dialogues/", chatbots.Dialogues, "chatbot_dialogues"),
    _at(f"{_CAMPAIGN}chatbots/<int:chatbot_id>/test/", chatbots.Test, "chatbot_test"),
    _at(f"{_CAMPAIGN}chatbots/<int:chatbot_id>/copies/", chatbots.ChatbotCopies, "chatbot_copies"),
    _at(f"{_CAMPAIGN}hits/", hits.Hits, "hits"),
    _at(f"{_CAMPAIGN}hits/own/", hits.OwnHits, "own_hits"),
    _at(f"{_CAMPAIGN}hits/estimate/", hits.Estimate, "estimate"),
    _at(f"{_CAMPAIGN}hits/<int:number>/items/", hits.OneHit, "hit"),
    _at(f"{_CAMPAIGN}hits/<int:number>/preview/", hits.HitPreview, "preview"),
    _at(f"{_CAMPAIGN}hits/<int:number>/preview/<int:position>/<str:name>.img", hits.PreviewImage, "preview_image"),
    _at(f"{_CAMPAIGN}progress/", work.Progress, "progress"),
    _at(f"{_CAMPAIGN}progress/hits/", work.HitProgress, "hit_progress"),
    _at(f"{_CAMPAIGN}assignments/", work.Assignments, "assignments"),
    _at(f"{_CAMPAIGN}assignments/<int:assignment_id>/release/", work.Release, "release"),
    _at(f"{_CAMPAIGN}assignments/<int:assignment_id>/erasure/", work.Erasures, "erasure"),
    _at(f"{_CAMPAIGN}feedback/", work.Feedback, "feedback"),
    _at(f"{_CAMPAIGN}access/", raters.AccessOf, "access"),
    _at(f"{_CAMPAIGN}raters/", raters.Raters, "raters"),
    _at(f"{_CAMPAIGN}raters/counts/", raters.Counts, "rater_counts"),
    _at(f"{_CAMPAIGN}raters/remind/", raters.Remind, "raters_remind"),
    _at(f"{_CAMPAIGN}raters/<int:invitation_id>/", raters.OneRater, "rater"),
    _at(f"{_CAMPAIGN}raters/<int:invitation_id>/revoke/", raters.Revoke, "rater_revoke"),
    _at(f"{_CAMPAIGN}raters/<int:invitation_id>/restore/", raters.Restore, "rater_restore"),
    _at(f"{_CAMPAIGN}exports/", work.Exports, "exports"),
    _at(f"{_CAMPAIGN}exports/<str:name>", work.Export, "export"),
    _at(f"{_CAMPAIGN}chats/", chats.Chats, "chats"),
    _at(f"{_CAMPAIGN}chats/<int:chat_id>/", chats.OneChat, "chat"),
    _at(f"{_CAMPAIGN}chats/chatbots/", chats.ChatbotStates, "chatbot_states"),
    _at(f"{_CAMPAIGN}chats/flags/", chats.ChatFlags, "chat_flags"),
    _at(f"{_CAMPAIGN}workers/", results.LiveWorkers, "workers"),
    _at(f"{_CAMPAIGN}looks/", results.Looks, "looks"),
    _at(f"{_CAMPAIGN}replication/", results.Replication, "replication"),
    _at(f"{_CAMPAIGN}platform/", platform.PlatformOf, "platform"),
    _at(f"{_CAMPAIGN}platform/account/", platform.Account, "platform_account"),
    _at(f"{_CAMPAIGN}platform/check/", platform.Check, "platform_check"),
    _at(f"{_CAMPAIGN}platform/keys/", platform.Keys, "platform_keys"),
    _at(f"{_CAMPAIGN}platform/status/", platform.Status, "platform_status"),
    _at(f"{_CAMPAIGN}platform/sync/", platform.Sync, "platform_sync"),
    _at(f"{_CAMPAIGN}waves/", waves.Waves, "waves"),
    _at(f"{_CAMPAIGN}waves/plan/", waves.Plan, "wave_plan"),
    _at(f"{_CAMPAIGN}waves/<int:wave_id>/", waves.OneWave, "wave"),
    _at(f"{_CAMPAIGN}waves/<int:wave_id>/stop/", waves.StopWave, "stop_wave"),
    _at(f"{_CAMPAIGN}waves/<int:wave_id>/resume/", waves.ResumeWave, "resume_wave"),
    _at(f"{_CAMPAIGN}postings/", waves.Postings, "postings"),
    _at(f"{_CAMPAIGN}postings/acts/", waves.PostingActs, "posting_acts"),
    _at(f"{_CAMPAIGN}payments/", payments.Payments, "payments"),
    _at(f"{_CAMPAIGN}payments.csv", payments.PaymentsFile, "payments_file"),
    _at(f"{_CAMPAIGN}payments/totals/", payments.TotalsOf, "payment_totals"),
    _at(f"{_CAMPAIGN}payments/wages/", payments.WagesOf, "wages"),
    _at(f"{_CAMPAIGN}payments/approve/", decisions.Approve, "approve"),
    _at(f"{_CAMPAIGN}payments/bonus/", decisions.Bonus, "bonus"),
    _at(f"{_CAMPAIGN}payments/message/", decisions.Message, "message"),
    _at(f"{_CAMPAIGN}discrepancies/", payments.Discrepancies, "discrepancies"),
    _at(f"{_CAMPAIGN}orders/", payments.Orders, "orders"),
    _at(f"{_CAMPAIGN}orders/retry/", decisions.Retry, "retry_orders"),
    _at(f"{_CAMPAIGN}orders/<int:order_id>/again/", decisions.Again, "order_again"),
    _at(f"{_SUBMISSION}", payments.OneSubmission, "submission"),
    _at(f"{_SUBMISSION}reject/", decisions.Reject, "reject"),
    _at(f"{_SUBMISSION}reverse/", decisions.Reverse, "reverse"),
    _at(f"{_SUBMISSION}block/", decisions.Block, "block"),
    _at(f"{_SUBMISSION}unblock/", decisions.Unblock, "unblock"),
    _at(f"{_SUBMISSION}dismiss/", decisions.Dismiss, "dismiss"),
    _at(f"{_SUBMISSION}free/", decisions.Free, "free"),
    _at(f"{_CAMPAIGN}runs/", analyses.CampaignRuns, "campaign_runs"),
    _at(f"{_CAMPAIGN}judges/", judges.Judges, "judges"),
    _at(f"{_CAMPAIGN}judges/<uuid:judge_id>/", judges.OneJudge, "judge"),
    _at(f"{_CAMPAIGN}judges/<uuid:judge_id>/estimate/", judges.Estimate, "judge_estimate"),
    _at(f"{_CAMPAIGN}judges/<uuid:judge_id>/start/", judges.Start, "judge_start"),
    _at(f"{_CAMPAIGN}judges/<uuid:judge_id>/stop/", judges.Stop, "judge_stop"),
    _at(f"{_CAMPAIGN}judges/<uuid:judge_id>/answers/", judges.Answers, "judge_answers"),
    _at(f"{_CAMPAIGN}plans/", plans.CampaignPlans, "campaign_plans"),
    _at("plans/", plans.Plans, "plans"),
    _at("plans/<uuid:plan_id>/", plans.OnePlan, "plan"),
    _at("ratings-files/", ratings_files.RatingsFiles, "ratings_files"),
    _at(f"{_FILE}", ratings_files.OneRatingsFile, "ratings_file"),
    _at(f"{_FILE}sample/", ratings_files.SampleOf, "ratings_sample"),
    _at(f"{_FILE}proposal/", ratings_files.ProposalOf, "proposal"),
    _at(f"{_FILE}runs/", ratings_files.FileRuns, "file_runs"),
    _at(f"{_RUN}", analyses.OneRun, "run"),
    _at(f"{_RUN}result/", results.Result, "result"),
    _at(f"{_RUN}again/", analyses.Again, "again"),
    _at(f"{_RUN}chats/", results.ChatsOf, "run_chats"),
    _at(f"{_RUN}metrics/", metrics.Scores, "metrics"),
    _at(f"{_RUN}metrics/computed/", metrics.Computed, "metrics_computed"),
    _at(f"{_RUN}metrics/<uuid:scores_id>/", metrics.OneScores, "metric_scores"),
    _at(f"{_RUN}comparisons/", results.Comparisons, "comparisons"),
    _at(f"{_RUN}workers/", results.Workers, "run_workers"),
    _at(f"{_RUN}exclusions/", analyses.Exclusions, "exclusions"),
    _at(f"{_RUN}sections/", results.Sections, "sections"),
    _at(f"{_RUN}paper/", results.PaperOf, "paper"),
    _at(f"{_RUN}report/", results.ReportOf, "report"),
    _at(f"{_RUN}changes/", analyses.Changes, "changes"),
    _at(f"{_RUN}files/", results.RunFiles, "run_files"),
    _at(f"{_RUN}files/<path:name>", results.OneRunFile, "run_file"),
    _at("compare/", comparisons.Compare, "compare"),
    _at("compare/files/<path:name>", comparisons.ComparisonFile, "compare_file"),
    _at(f"{_CAMPAIGN}jobs/", jobs.CampaignJobs, "campaign_jobs"),
    _at(f"{_CAMPAIGN}jobs/<uuid:job_id>/", jobs.CampaignJob, "campaign_job"),
    _at("jobs/<uuid:job_id>/", jobs.OneJob, "job"),
    _at("jobs/<uuid:job_id>/retry/", jobs.Retry, "retry"),
    # A path of Django's ends at a line break, which an address may hold, too.
    re_path(r"(?P<rest>[\s\S]+)\Z", operations.Nowhere.made_by(_view_of), name="nowhere"),
]
