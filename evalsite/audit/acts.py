"""What people do, in words, by the names of addresses; and what is not recorded, with the reason.

A name may be followed by a method of HTTP. An act that is in neither list is recorded nevertheless, by its address; a
test asks for its words.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Protocol

# By group: the words that follow “who”, by the addresses of pages and of the API that do the same.
_ACTS: dict[str, dict[str, str]] = {
    "sign-ins": {
        "accounts:sign_in": "signed in",
        "accounts:second_step": "signed in with a second factor",
        "accounts:second_factor": "set up a second factor",
        "accounts:second_factor_off": "turned the second factor off",
        "accounts:recovery_codes": "made new recovery codes",
        "accounts:proxy_sign_in": "signed in by the word of the proxy",
        "accounts:oidc_callback": "signed in at the provider, or connected the account with it",
        "accounts:disconnect": "disconnected the account from the provider",
        "accounts:sign_out admin:logout": "signed out",
        "accounts:password accounts:reset_confirm": "chose a new password",
        "accounts:tokens api:tokens": "made an API token",
        "accounts:revoke_token api:token": "revoked an API token",
    },
    "accounts": {
        "desk:invite": "invited somebody to the site",
        "desk:person": "changed the name or the address of an account",
        "desk:person_link": "made a link to choose a password",
        "desk:person_deactivate": "deactivated an account",
        "desk:person_reactivate": "reactivated an account",
        "desk:person_role": "made somebody an administrator, or a researcher",
    },
    "the site": {
        "desk:job_retry jobs:retry api:retry": "queued a job again",
        "undo": "took back what they had done",
        "desk:test_mail": "sent a test mail",
        "admin:campaigns_campaign_change": "changed members of a campaign in the database",
        "admin:jobs_job_delete": "deleted a job in the database",
        "admin:jobs_workerheartbeat_delete": "deleted a sign of a job worker in the database",
        "admin:campaigns_webhook_delete": "deleted a webhook in the database",
        "admin:campaigns_delivery_delete": "deleted a delivery in the database",
    },
    "members": {
        "campaigns:members api:members": "invited somebody to be a member",
        "campaigns:invitation_withdraw api:member_invitation": "withdrew an invitation to be a member",
        "campaigns:join": "became a member by an invitation, or declined it",
        "campaigns:member api:member_PUT": "changed the role of a member",
        "campaigns:member_remove api:member_DELETE": "removed a member",
        "analysis:share api:share_links": "made a link to shared results",
        "analysis:revoke_share api:share_link": "revoked a link to shared results",
    },
    "workers' own ids": {
        "monitoring:export_file api:export": "took out responses with workers' own ids",
        "crowd:payments_csv api:payments_file": "took out payments with workers' own ids",
        "analysis:workers_csv": "took out the worker table with workers' own ids",
        "monitoring:worker_data": "took out what is stored on a worker",
    },
    "keys": {
        "crowd:keys api:platform_keys": "set keys of the platform's account",
        "campaigns:chatbot_secrets api:chatbot_secrets": "set keys of a chatbot",
        "analysis:judge_keys": "set keys of a judge",
        "campaigns:webhook_secret api:webhook_secret": "made a new secret of a webhook",
    },
    "launches and closings": {
        "campaigns:launch api:launch": "launched the campaign",
        "campaigns:pause api:pause": "paused the campaign",
        "campaigns:resume api:resume": "resumed the campaign",
        "campaigns:close api:close": "closed the campaign",
        "campaigns:archive api:archive": "archived the campaign, or took it back",
        "crowd:publish api:waves": "published a wave",
        "crowd:stop api:stop_wave": "stopped a wave",
        "crowd:resume api:resume_wave": "resumed a wave",
        "crowd:act api:posting_acts": "changed postings on the platform",
    },
    "deletions": {
        "campaigns:delete api:campaign_DELETE api:deletion": "deleted the campaign",
        "campaigns:upload_delete api:upload_DELETE": "deleted an upload",
        "analysis:delete_file api:ratings_file_DELETE": "deleted a file of ratings",
        "analysis:delete_run api:run": "deleted results",
        "analysis:delete_plan api:plan": "deleted a plan",
        "monitoring:erase api:erasure": "erased a worker's personal data",
    },
    "payments": {
        "campaigns:payment": "changed the reward",
        "crowd:approve api:approve": "approved work",
        "crowd:reject api:reject": "rejected work",
        "crowd:reverse api:reverse": "took back a rejection",
        "crowd:bonus api:bonus": "paid a bonus",
        "crowd:message api:message": "sent workers a message",
        "crowd:retry_orders api:retry_orders": "sent failed orders again",
        "crowd:again api:order_again": "sent an order again",
        "crowd:dismiss api:dismiss": "dismissed a discrepancy",
        "crowd:block api:block": "blocked a worker",
        "crowd:unblock api:unblock": "unblocked a worker",
    },
    "workers": {
        "monitoring:release crowd:free api:release api:free": "freed a place",
        "monitoring:raters_add api:raters": "invited raters",
        "monitoring:raters_remind api:raters_remind": "reminded raters",
        "monitoring:rater api:rater": "changed a rater",
        "monitoring:rater_revoke api:rater_revoke": "revoked a rater's link",
        "monitoring:rater_restore api:rater_restore": "restored a rater's link",
    },
    "set-up": {
        "campaigns:new api:campaigns": "created a campaign",
        "campaigns:new_file": "created a campaign from a file",
        "campaigns:new_copy": "copied a campaign or an example",
        "campaigns:new_design api:design_files": "created a campaign from a design file",
        "campaigns:protocol": "chose a protocol",
        "campaigns:duplicate api:copies": "copied the campaign",
        "campaigns:settings api:settings": "changed settings",
        "campaigns:instructions api:instructions": "changed instructions or consent",
        "campaigns:screen api:screen": "changed the layout",
        "campaigns:field_add api:fields": "added a field",
        "campaigns:field_place api:field_place": "moved a field",
        "api:field": "changed or removed a field",
        "campaigns:chat api:chat_rules": "changed chat rules",
        "campaigns:upload api:uploads": "uploaded outputs",
        "api:rows": "sent outputs as rows",
        "campaigns:columns api:upload_PATCH": "named columns of an upload",
        "api:import": "imported an upload",
        "campaigns:systems": "changed systems",
        "campaigns:system api:system": "changed a system",
        "campaigns:criteria": "added or changed criteria",
        "api:criteria": "added a criterion",
        "campaigns:criterion": "changed a criterion",
        "api:criterion": "changed or removed a criterion",
        "campaigns:criterion_delete": "removed a criterion",
        "campaigns:criteria_order api:criteria_order": "changed the order of criteria",
        "campaigns:chatbot_add api:chatbots": "added a chatbot",
        "campaigns:chatbot": "changed a chatbot",
        "api:chatbot": "changed or removed a chatbot",
        "campaigns:chatbot_dialogues api:chatbot_dialogues": "changed dialogues of a chatbot",
        "campaigns:chatbot_test api:chatbot_test": "tried a chatbot",
        "campaigns:chatbot_duplicate api:chatbot_copies": "copied a chatbot",
        "campaigns:chatbot_remove": "removed a chatbot",
        "campaigns:webhooks api:webhooks": "added a webhook",
        "campaigns:webhook": "changed a webhook",
        "api:webhook": "changed or removed a webhook",
        "campaigns:webhook_remove": "removed a webhook",
        "campaigns:delivery_again api:send_again": "sent a delivery again",
        "campaigns:design api:design": "changed the design of HITs",
        "campaigns:design_preset api:preset": "took a preset of the design",
        "campaigns:design_proposal": "took a proposed design",
        "campaigns:design_no_test": "built HITs that test no workers",
        "campaigns:design_seed api:seed": "drew another seed",
        "campaigns:build api:hits": "built HITs",
        "campaigns:own_hits api:own_hits": "uploaded own HITs",
        "crowd:platform api:platform": "changed the platform",
        "crowd:check api:platform_check": "checked the platform's account",
        "crowd:sync api:platform_sync": "polled the platform",
    },
    "results": {
        "analysis:upload api:ratings_files": "uploaded a file of ratings",
        "analysis:columns": "named columns of a file of ratings",
        "api:ratings_file": "changed a file of ratings",
        "analysis:protocol api:file_runs": "started an analysis",
        "analysis:run analysis:groups api:again": "repeated an analysis, or named it",
        "analysis:campaign_results api:campaign_runs": "analysed the campaign",
        "analysis:workers api:exclusions": "excluded workers, or took them back",
        "analysis:corpus": "compared results with a corpus",
        "analysis:metric_upload api:metrics": "uploaded scores of metrics",
        "analysis:metric_compute api:metrics_computed": "had metrics computed",
        "analysis:metric_encoding": "named the encoding of a file of scores",
        "analysis:metric_remove api:metric_scores": "removed scores of metrics",
        "analysis:plans api:plans analysis:campaign_plan api:campaign_plans": "made a plan",
        "analysis:judge_add api:judges": "added a judge",
        "analysis:judge_start api:judge_start": "started a judge",
        "analysis:judge_stop api:judge_stop": "stopped a judge",
        "analysis:judge_remove api:judge": "removed a judge",
        "analysis:campaign_datasheet api:datasheet": "answered questions of the datasheet",
    },
}

_WORKERS = "of workers, who have no account; what they do is in the events of their assignments"
_NOTHING = "nothing is there, or it only leads to another page"
# Names, or what they begin with (*).
NOT_RECORDED = {
    "rate:*": _WORKERS,
    "crowd:hook": "notifications of a platform, which are kept themselves",
    "accounts:reset": "anybody may ask for a link; who uses it is recorded",
    "accounts:oidc_start": "only leads to the provider; what follows is recorded",
    "home": _NOTHING,
    "desk:home": _NOTHING,
    "api:nowhere": _NOTHING,
    "admin/database/login/": _NOTHING,
    "admin/database/(?P<url>.*)$": _NOTHING,
    "admin:*_changelist": "lists rows; what it may do to one is recorded by the page that asks for it",
    "admin:*_history": "only shows",
}
# Django's own pages show a form that was refused with the status 200.
SAYS_SUCCESS_BY_REDIRECT = {
    "accounts:sign_in",
    "accounts:password",
    "accounts:reset_confirm",
    "admin:campaigns_campaign_change",
    "admin:jobs_job_delete",
    "admin:jobs_workerheartbeat_delete",
    "admin:campaigns_webhook_delete",
    "admin:campaigns_delivery_delete",
}
GROUPS = tuple(_ACTS)
_METHODS = ("_PUT", "_PATCH", "_DELETE", "_POST")
_TITLES = {name: title for acts in _ACTS.values() for names, title in acts.items() for name in names.split()}


class _Entry(Protocol):
    act: str
    method: str
    is_failed: bool


@cache
def is_left_out(name: str) -> bool:
    """Return whether requests to an address are not recorded."""
    return any(fnmatchcase(name, pattern) for pattern in NOT_RECORDED)


def find_title(name: str, method: str) -> str:
    """Return what a request to an address does, in words; "" if nobody has said."""
    return _TITLES.get(f"{name}_{method}") or _TITLES.get(name, "")


def title_of(entry: _Entry) -> str:
    """Return what an entry says that somebody did, in words."""
    if entry.is_failed:
        return "did not sign in: the password was wrong"
    if not (title := find_title(entry.act, entry.method)):
        title = "read workers' own ids" if entry.method == "GET" else f"{entry.method} {entry.act}"
    return title


def names_in(group: str) -> list[str]:
    """Return the names of the addresses of a group of acts."""
    listed: Mapping[str, str] = _ACTS.get(group, {})
    return [name.rpartition("_")[0] if name.endswith(_METHODS) else name for each in listed for name in each.split()]


def names_in_words() -> set[str]:
    """Return the names of all addresses that have words."""
    return {name for group in GROUPS for name in names_in(group)}
