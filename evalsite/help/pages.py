"""Which section of a guide describes a page of the site, for the link in the page's head."""

from django.http import HttpRequest
from django.urls import reverse

# By guide and, in most, anchor, the names of the addresses of its pages.
_SECTIONS = {
    # Lists and what begins with them
    "first-campaign#copy-archive-delete": ("campaigns:list", "campaigns:archive", "campaigns:delete"),
    "protocols#choose": ("campaigns:new", "campaigns:protocol"),
    # Design
    "first-campaign#5-preview-and-launch": (
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
    ),
    "chatbots#1-add-chatbots": (
        "campaigns:chatbots",
        "campaigns:chatbot_choose",
        "campaigns:chatbot_add",
        "campaigns:chatbot",
        "campaigns:chatbot_dialogues",
        "campaigns:chat",
    ),
    "first-campaign#3-questions-and-instructions": (
        "campaigns:systems",
        "campaigns:criteria",
        "campaigns:screen",
        "campaigns:instructions",
    ),
    "first-campaign#4-build-the-hits": ("campaigns:hit",),
    "design#hits": ("campaigns:design",),
    # Recruit
    "planning#publish-in-waves": ("crowd:platform",),
    "planning#pay": (
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
    "lab-mates#invite-raters": (
        "monitoring:raters",
        "monitoring:raters_add",
        "monitoring:raters_remind",
        "monitoring:rater",
        "monitoring:rater_codes",
    ),
    "planning#set-the-reward": ("campaigns:payment",),
    # Monitor
    "first-campaign#6-watch": (
        "monitoring:progress",
        "monitoring:assignments",
        "monitoring:feedback",
        "analysis:campaign_live_workers",
    ),
    "chatbots#4-launch-and-watch": (
        "monitoring:chats",
        "monitoring:transcripts",
        "monitoring:chat_flags",
        "monitoring:chat",
    ),
    "ethics#what-a-worker-may-ask-for": ("monitoring:erase",),
    "ethics#what-is-stored": ("monitoring:protection",),
    # Results, of campaigns and of ratings files
    "first-campaign#7-read-the-results": ("analysis:campaign_results", "analysis:run", "shared:run"),
    "method": ("analysis:campaign_section", "analysis:section", "shared:section"),
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
    "compare-two#two-results-instead-of-two-models": (
        "analysis:campaign_compare",
        "analysis:compare",
        "analysis:compare_any",
    ),
    "paper#steps": ("analysis:campaign_downloads", "analysis:downloads", "shared:downloads"),
    "method/metric-scores#judges": ("analysis:judge_add", "analysis:judge"),
    "method/metrics": ("analysis:campaign_metrics", "analysis:metrics", "shared:metrics"),
    "planning#plan": ("analysis:campaign_plan",),
    "paper#the-datasheet": ("analysis:campaign_datasheet",),
    "exports#files-of-a-campaign": ("monitoring:export",),
    "ratings#columns": (
        "analysis:ratings",
        "analysis:upload",
        "analysis:ratings_file",
        "analysis:columns",
    ),
    "ratings#the-protocol-file": ("analysis:protocol",),
    # Settings
    "first-campaign#settings": ("campaigns:settings",),
    "webhooks#what-is-sent": ("campaigns:webhooks", "campaigns:webhook"),
    "lab-mates#colleagues-who-work-on-the-campaign": ("campaigns:members",),
    "people#audit-log": ("desk:audit", "campaigns:audit"),
    # Of the account, and of administrators
    "api#tokens": ("accounts:tokens",),
    "people#second-factor": ("accounts:second_factor",),
    "people#sign-in-by-a-provider": ("accounts:connection",),
    "people#accounts": ("desk:people", "desk:invite", "desk:person"),
    "server#watch-it": ("desk:jobs", "desk:storage", "desk:system"),
}
SECTION_OF = {page: section for section, pages in _SECTIONS.items() for page in pages}
"""The guide, or `guide#anchor`, that describes the page of an address's name."""


def page_guide(request: HttpRequest) -> dict[str, str]:
    """Return where the guides describe the page that is asked for; "" if they do not."""
    match = request.resolver_match
    guide, mark, anchor = SECTION_OF.get(match.view_name if match else "", "").partition("#")
    return {"page_guide": reverse("help:guide", args=[guide]) + mark + anchor if guide else ""}
