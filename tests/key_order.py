"""Finds code that reads a stored object of JSON by the order of its keys, which PostgreSQL does not keep."""

import ast
from collections.abc import Iterator, Set
from pathlib import Path

_STORED = ("Report", "Found", "Plan", "Mapping[str, Any]", "dict[str, Any]")
"""Annotations of parameters that hold stored JSON."""
_BY_ORDER = ("values", "items", "popitem")
_WITHOUT_ORDER = ("sorted", "min", "max", "sum", "any", "all", "set", "frozenset", "len", "dict", "Counter", "bool")
"""What makes something of entries that does not depend on their order."""


def reads_by_order(source: str, fields: Set[str] = frozenset()) -> list[tuple[int, str]]:
    """Return each line, with its code, at which the entries of a stored object are taken in their order.

    Stored are parameters that are annotated so, attributes with the names of `fields` of models, and what is taken out
    of these by key. Objects that are made of others, sums, sorted entries and sets do not depend on the order.
    """
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for function in parents:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        inside = list(ast.walk(function))
        if calls := [node for node in inside if _takes_entries(node)]:
            names = _stored_names(function, inside, fields)
            found += [
                (node.lineno, ast.unparse(node))
                for node in calls
                if _is_stored(node.func.value, names, fields) and not _is_without_order(node, parents)
            ]
    return sorted(set(found))


def _takes_entries(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _BY_ORDER


def _stored_names(
    function: ast.FunctionDef | ast.AsyncFunctionDef, inside: list[ast.AST], fields: Set[str]
) -> set[str]:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    annotated = [(each.arg, ast.unparse(each.annotation)) for each in arguments if each.annotation]
    names = {name for name, annotation in annotated if annotation.strip("'\"") in _STORED}
    assigned = [pair for node in inside for pair in _assigned(node)]
    for _ in range(3):  # names of names
        for target, value in assigned:
            if isinstance(target, ast.Name) and _is_stored(value, names, fields):
                names.add(target.id)
    return names


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            yield from zip(targets, values, strict=False)
        case ast.Assign(targets=[target], value=value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield target, value


def _is_stored(node: ast.expr, names: Set[str], fields: Set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="get")):
            return _is_stored(value, names, fields)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return name in fields and owner not in ("self", "form", "cls", "request")
        case ast.BoolOp(values=values):
            return any(_is_stored(value, names, fields) for value in values)
    return False


def _is_without_order(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Tell whether entries go into something without an order: a call, or a comprehension of an object or a set."""
    while (parent := parents.get(node)) is not None and not isinstance(parent, ast.stmt):
        match parent:
            case ast.Call(func=ast.Name(id=name)) if name in _WITHOUT_ORDER and node in parent.args:
                return True
            case ast.DictComp() | ast.SetComp() | ast.Compare():
                return True
        node = parent
    return False


def check_folder(folder: Path, fields: Set[str] = frozenset()) -> list[str]:
    """Return every such place of a folder's modules, but for tests and migrations."""
    return [
        f"{path.relative_to(folder.parent)}:{line}: {code}"
        for path in sorted(folder.rglob("*.py"))
        if "migrations" not in path.parts
        for line, code in reads_by_order(path.read_text(encoding="utf-8"), fields)
    ]
