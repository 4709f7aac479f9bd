"""Secrets that are stored encrypted: whether they can be read, and encrypting them with the present key."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.apps import apps
from django.db.models import Model

from evalsite.lib.encryption import EncryptedField, readable_secrets, reencrypt_secrets
from evalsite.lib.errors import DomainError


@dataclass(frozen=True)
class StoredSecrets:
    """The secrets of one row, encrypted. `kind` is the name of its table, in the singular."""

    model: type[Model]
    column: str
    pk: int
    encrypted: str

    @property
    def kind(self) -> str:
        """What the row is, such as “chatbot”."""
        return str(self.model._meta.verbose_name)

    @property
    def is_readable(self) -> bool:
        """Whether SECRET_KEY or a former key reads them."""
        return readable_secrets(self.encrypted) is not None


@dataclass
class Rotation:
    """What `encrypt_anew` did, by kind of row; `unreadable` names rows, which stay as they were."""

    encrypted: Counter[str] = field(default_factory=Counter)
    were_new: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)


def encrypted_columns() -> list[tuple[type[Model], str]]:
    """Return each model and column with encrypted secrets."""
    return [
        (model, column.name)
        for model in apps.get_models()
        for column in model._meta.concrete_fields
        if isinstance(column, EncryptedField)
    ]


def iter_secrets() -> Iterator[StoredSecrets]:
    """Yield all that are stored. A query for each column."""
    for model, column in encrypted_columns():
        rows = model._default_manager.exclude(**{column: ""}).order_by("pk").values_list("pk", column)
        yield from (StoredSecrets(model, column, pk, encrypted) for pk, encrypted in rows.iterator())


def encrypt_anew() -> Rotation:
    """Encrypt with SECRET_KEY what a former key has encrypted. It may be repeated, and the site may run meanwhile.

    A row that is changed at the same time keeps the change: it is encrypted with the present key already.
    """
    done = Rotation()
    for each in list(iter_secrets()):
        try:
            anew = reencrypt_secrets(each.encrypted)
        except DomainError:
            done.unreadable.append(f"{each.kind} {each.pk}")
            continue
        if anew == each.encrypted:
            done.were_new[each.kind] += 1
            continue
        unchanged = each.model._default_manager.filter(**{"pk": each.pk, each.column: each.encrypted})
        done.encrypted[each.kind] += unchanged.update(**{each.column: anew})
    return done
