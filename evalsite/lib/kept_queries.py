"""Queries whose SQL is made once: for requests that are so short that making it takes longer than the database does."""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar, cast

from django.db import connection, models
from django.db.models.base import ModelState

M = TypeVar("M", bound=models.Model)


class _Part(NamedTuple):
    """Which columns of a row make an object of `model`, and how it is set on the object that refers to it."""

    model: type[models.Model]
    fields: list[str]
    first: int
    end: int
    set_on: Callable[[Any, Any], None] | None = None


class _Statement(NamedTuple):
    """SQL with places for the values, by column how its values become those of Python, and the objects of a row."""

    sql: str
    converters: dict[int, tuple[list[Callable[..., Any]], Any]]
    parts: list[_Part]


class KeptQuery(Generic[M]):
    """A queryset of which only the values change that it is filtered by: integers, such as keys.

    The queryset names some as an example, and may have `only` and `select_related` of foreign keys of its own model.
    """

    def __init__(self, queryset: "models.QuerySet[M]") -> None:
        self._queryset = queryset
        self._statements: dict[str, _Statement] = {}
        self._making = Lock()

    def list(self, *values: int) -> list[M]:
        """Return the objects for these values, in the order in which the SQL names them. One query."""
        statement = self._statements.get(connection.vendor) or self._make_once()
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, values)
            return [_make_object(statement, list(row)) for row in cursor.fetchall()]

    def get(self, *values: int) -> M:
        """Return the one object for these values; raise the model's DoesNotExist. One query."""
        found = self.list(*values)
        if not found:
            raise cast(Any, self._queryset.model).DoesNotExist
        return found[0]

    def _make_once(self) -> _Statement:
        """Make the statement for this kind of database, and keep it. Threads wait: Django changes a query meanwhile."""
        with self._making:
            if connection.vendor not in self._statements:
                self._statements[connection.vendor] = self._make()
            return self._statements[connection.vendor]

    def _make(self) -> _Statement:
        """Make the statement as Django's ModelIterable does."""
        compiler = self._queryset.query.clone().get_compiler(connection=connection)
        sql, _ = compiler.as_sql()
        info: Any = compiler.klass_info
        related = info.get("related_klass_infos", ())
        parts = [
            _part(info, compiler.select),
            *(_part(each, compiler.select, each["local_setter"]) for each in related),
        ]
        return _Statement(sql, compiler.get_converters([column for column, *_ in compiler.select]), parts)


def _part(info: Any, select: Sequence[Any], set_on: Callable[[Any, Any], None] | None = None) -> _Part:
    first, end = info["select_fields"][0], info["select_fields"][-1] + 1
    return _Part(info["model"], [column.target.attname for column, *_ in select[first:end]], first, end, set_on)


def _make_object(statement: _Statement, row: list[Any]) -> Any:
    """Return the object of a row, with those that it refers to."""
    for place, (converters, column) in statement.converters.items():
        for convert in converters:
            row[place] = convert(row[place], column, connection)
    made: Any = None
    for part in statement.parts:
        each = _new(part.model, zip(part.fields, row[part.first : part.end], strict=True))
        if part.set_on:
            part.set_on(made, each)
        else:
            made = each
    return made


def _new(model: type[models.Model], values: Iterable[tuple[str, Any]]) -> Any:
    """Return a stored object with these values, as `from_db` does in four times the time; the others are deferred.

    No signal is sent, and no `__init__` or `from_db` of the model is called.
    """
    made: Any = model.__new__(model)
    made.__dict__.update(values)
    made._state = ModelState()
    made._state.adding, made._state.db = False, connection.alias
    return made
