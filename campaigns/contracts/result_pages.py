"""The pages of a result, in the order of every side bar: results of all methods have the same."""

from dataclasses import dataclass

FIRST_PAGE = "run"
"""The page that says what was found."""
PAIRS = "pairs"
OWN_PAGE = "section"
"""The page of a section that has one of its own, under the title of the section."""
DOWNLOADS = "downloads"
_ANALYSE_AGAIN = (
    "They are of an earlier version, or have fewer than two systems with a score. Analyse the ratings again to have "
    "everything computed that can be."
)


@dataclass(frozen=True)
class ResultPage:
    """A page of a result: of a campaign, of a ratings file, and of a share link.

    `slug`: the end of its address, and what sections name it by (`Section.page`).
    `is_shared`: whether share links show it: none about single workers, and nothing that changes.
    `is_optional`: whether side bars leave it out where no section names it.
    `nothing`: what it says where no section names it, in sentences; "" where it has more than sections.
    `former`: the ends of former addresses, which lead to it.
    """

    slug: str
    title: str = ""
    is_shared: bool = True
    is_optional: bool = False
    nothing: str = ""
    former: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The end of its address, as a route."""
        if self.slug == FIRST_PAGE:
            return ""
        return "sections/<str:section>/" if self.slug == OWN_PAGE else f"{self.slug}/"

    @property
    def in_campaign(self) -> str:
        """The name of its address in a campaign; other addresses have the slug as their name."""
        return "campaign_results" if self.slug == FIRST_PAGE else f"campaign_{self.slug}"


RESULT_PAGES = (
    ResultPage(FIRST_PAGE, "Findings"),
    ResultPage(
        PAIRS, "Pairs", nothing=f"These results compare no pairs of systems. {_ANALYSE_AGAIN}", former=("significance",)
    ),
    ResultPage(
        "workers", "Workers", is_shared=False, nothing=f"These results say nothing of single workers. {_ANALYSE_AGAIN}"
    ),
    ResultPage(
        "reliability", "Reliability", nothing=f"These results do not say how far workers agree. {_ANALYSE_AGAIN}"
    ),
    ResultPage(
        "groups",
        "Groups",
        nothing="Systems can be compared by groups of sources, outputs or workers, such as domains or expertise. A "
        "column of the ratings says the group of each answer: one more column of the outputs, or of the list of "
        "raters. Nobody chose one here.",
    ),
    ResultPage(
        "sensitivity",
        "Sensitivity",
        nothing=f"These results do not say what would change the ranking. {_ANALYSE_AGAIN}",
    ),
    ResultPage(
        "metrics",
        "Metrics",
        nothing="Scores of automatic metrics are compared with the human ratings here: which metrics rank the systems "
        "as people do, and which are better than others.",
    ),
    ResultPage("chats", "Chats", is_optional=True),
    ResultPage(OWN_PAGE, is_optional=True),
    ResultPage("compare", "Compare", is_shared=False),
    ResultPage(DOWNLOADS, "Paper and downloads", former=("paper",)),
)
PAGE_OF = {page.slug: page for page in RESULT_PAGES}
"""Each of them by its slug."""
