"""Which entries of the audit log to list."""

from django import forms

from evalsite.audit.acts import GROUPS

_SEARCH = {"type": "search", "autocomplete": "off", "spellcheck": "false"}


class AuditFilter(forms.Form):
    """Who, what, since when."""

    search = forms.CharField(
        label="Address of an account, network or request",
        required=False,
        max_length=254,
        widget=forms.TextInput(attrs=_SEARCH),
    )
    group = forms.ChoiceField(label="What", required=False, choices=[("", "all"), *((name, name) for name in GROUPS)])
    since = forms.DateField(label="Since", required=False, widget=forms.DateInput(attrs={"type": "date"}))
