"""The list of raters to invite, as somebody types or pastes it."""

import unicodedata

from django import forms

from annotation.services.invitations import LONGEST_RATER_NAME, distinct_names

_MOST_RATERS = 2000
_ERRORS_SHOWN = 10


class RatersForm(forms.Form):
    """Names or e-mail addresses, one a line."""

    names = forms.CharField(
        label="Raters to invite",
        help_text="One rater a line: a name or an e-mail address. Whoever is invited already keeps their link.",
        widget=forms.Textarea(attrs={"rows": 6, "autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Write one rater at least, each on a line of their own."},
    )

    def clean_names(self) -> list[str]:
        """Return the names, trimmed, each once whatever its capitals; refuse lines that cannot be one, by number."""
        lines = [_tidy(line) for line in self.cleaned_data["names"].splitlines()]
        problems = [
            forms.ValidationError(f"Line {number}: {problem}", code=code)
            for number, name in enumerate(lines, start=1)
            for code, problem in _problems_of(name)
        ]
        names = distinct_names(filter(None, lines))
        if len(names) > _MOST_RATERS:
            problems.append(
                forms.ValidationError(
                    f"These are {len(names):,} raters; at most {_MOST_RATERS:,} are invited at once. Send some first.",
                    code="too_many",
                )
            )
        if problems:
            n_more = len(problems) - _ERRORS_SHOWN
            more = [forms.ValidationError(f"And {n_more} more.", code="more")] if n_more > 0 else []
            raise forms.ValidationError(problems[:_ERRORS_SHOWN] + more)
        return names


def _tidy(line: str) -> str:
    """Return a line in composed characters, its white space single, without marks that cannot be seen."""
    visible = "".join(c for c in unicodedata.normalize("NFC", line) if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(visible.split())


def _problems_of(name: str) -> list[tuple[str, str]]:
    """Return code and message of whatever keeps a line from being one rater's name."""
    shown = f"“{name[:20]}{'…' if len(name) > 20 else ''}”"
    problems = []
    if len(name) > LONGEST_RATER_NAME:
        message = f"{shown} has {len(name)} characters; at most {LONGEST_RATER_NAME} are possible. Shorten it."
        problems.append(("too_long", message))
    if ":" in name:
        problems.append(("colon", f"{shown} contains “:”, which links cannot carry in a name. Leave it out."))
    if name.count("@") > 1:
        problems.append(("several", f"{shown} looks like several e-mail addresses. Put each on its own line."))
    return problems
