"""Which section of a guide describes a page of the site, for the link in the page's head."""

from django.http import HttpRequest
from django.urls import reverse

# By guide and, in most, anchor, the names of the addresses of its pages.
_SECTIONS = {
    # Lists and what begins with them
    "campaigns#12-archive-and-delete": ("campaigns:list", "campaigns:archive", "campaigns:delete"),
    "campaigns#1-choose-a-protocol": ("campaigns:new",),
    # Design
    "campaigns#7-preview-and-launch": (
        "campaigns:campaign",
        "monitoring:preview",
        "monitoring:preview_item",
        "monitoring:preview_topic",
        "monitoring:preview_chat",
        "monitoring:preview_end",
    ),
    "outputs#shapes": (
        "campaigns:data",
        "campaigns:upload",
        "campaigns:columns",
        "campaigns:upload_delete",
    ),
    "campaigns#3-systems-and-criteria": ("campaigns:systems", "campaigns:criteria", "campaigns:screen"),
    "campaigns#campaigns-with-live-chats": (
        "campaigns:chatbots",
        "campaigns:chatbot_choose",
        "campaigns:chatbot_add",
        "campaigns:chatbot",
        "campaigns:chatbot_dialogues",
        "campaigns:chat",
    ),
    "campaigns#4-instructions-and-consent": ("campaigns:instructions",),
    "campaigns#5-design-the-hits": ("campaigns:design", "campaigns:hit"),
    # Recruit
    "campaigns#where-workers-come-from": ("crowd:platform",),
    "platforms#from-hits-to-paid-workers": (
        "crowd:plan",
        "crowd:postings",
        "crowd:payments",
        "crowd:approve",
        "crowd:bonus",
        "crowd:message",
        "crowd:discrepancies",
        "crowd:orders",
        "crowd:submission",
        "crowd:reject",
    ),
    "campaigns#8-invite-raters": (
        "monitoring:raters",
        "monitoring:raters_add",
        "monitoring:raters_remind",
        "monitoring:rater",
        "monitoring:rater_codes",
    ),
    "campaigns#payment": ("campaigns:payment",),
    # Monitor
    "campaigns#9-watch": (
        "monitoring:progress",
        "monitoring:assignments",
        "monitoring:feedback",
        "analysis:campaign_live_workers",
    ),
    "campaigns#watching-chats": (
        "monitoring:chats",
        "monitoring:transcripts",
        "monitoring:chat_flags",
        "monitoring:chat",
    ),
    "workers#erasing-a-workers-personal-data": ("monitoring:erase",),
    "workers#what-is-recorded": ("monitoring:protection",),
    # Results, of campaigns and of ratings files
    "campaigns#11-results": ("analysis:campaign_results", "analysis:run", "shared:run"),
    "ratings#other-kinds-of-responses": ("analysis:campaign_section", "analysis:section", "shared:section"),
    "method/conclusions#differences-between-systems": (
        "analysis:campaign_pairs",
        "analysis:pairs",
        "shared:pairs",
    ),
    "method/worker-test": ("analysis:campaign_workers", "analysis:workers"),
    "method/agreement": ("analysis:campaign_reliability", "analysis:reliability", "shared:reliability"),
    "method/groups": ("analysis:campaign_groups", "analysis:groups", "shared:groups"),
    "method/sensitivity": ("analysis:campaign_sensitivity", "analysis:sensitivity", "shared:sensitivity"),
    "method/chats": ("analysis:campaign_chats", "analysis:chats", "shared:chats"),
    "campaigns#compare": ("analysis:campaign_compare", "analysis:compare", "analysis:compare_any"),
    "campaigns#paper-and-downloads": ("analysis:campaign_downloads", "analysis:downloads", "shared:downloads"),
    "method/metric-scores#judges": ("analysis:judge_add", "analysis:judge"),
    "method/metrics": ("analysis:campaign_metrics", "analysis:metrics", "shared:metrics"),
    "planning#reading-a-plan": ("analysis:campaign_plan",),
    "publishing#the-datasheet": ("analysis:campaign_datasheet",),
    "exports#files-of-a-campaign": ("monitoring:export",),
    "ratings#columns": (
        "analysis:ratings",
        "analysis:upload",
        "analysis:ratings_file",
        "analysis:columns",
    ),
    "ratings#the-protocol-file": ("analysis:protocol",),
    # Settings
    "campaigns#6-settings": ("campaigns:settings",),
    "webhooks#what-is-sent": ("campaigns:webhooks", "campaigns:webhook"),
    "campaigns#members": ("campaigns:members",),
    "administration#audit-log": ("desk:audit", "campaigns:audit"),
    # Of the account, and of administrators
    "api#tokens": ("accounts:tokens",),
    "administration#second-factor": ("accounts:second_factor",),
    "administration#sign-in-by-a-provider": ("accounts:connection",),
    "administration#people": ("desk:people", "desk:invite", "desk:person"),
    "administration#jobs": ("desk:jobs",),
    "administration#storage": ("desk:storage",),
    "administration#system": ("desk:system",),
}
SECTION_OF = {page: section for section, pages in _SECTIONS.items() for page in pages}
"""The guide, or `guide#anchor`, that describes the page of an address's name."""


def page_guide(request: HttpRequest) -> dict[str, str]:
    """Return where the guides describe the page that is asked for; "" if they do not."""
    match = request.resolver_match
    guide, mark, anchor = SECTION_OF.get(match.view_name if match else "", "").partition("#")
    return {"page_guide": reverse("help:guide", args=[guide]) + mark + anchor if guide else ""}
