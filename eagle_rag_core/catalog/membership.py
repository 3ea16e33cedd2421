"""Membership in sets of any size, as one bound parameter.

An ``IN`` list takes one parameter per value, and databases limit those (SQLite 32,766); a JSON
array has no such limit and leaves the statement, and thus its cached compilation, the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Integer, String, bindparam, cast, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _ArrayElements(FunctionElement[str]):
    """The elements of a JSON array of texts, as rows with one column ``value``."""

    name = "array_elements"
    inherit_cache = True


@compiles(_ArrayElements, "sqlite")
def _on_sqlite(element: _ArrayElements, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_ArrayElements, "postgresql")
def _on_postgresql(element: _ArrayElements, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS JSON))"


def any_of(
    column: ColumnElement[Any], values: Iterable[str] | Iterable[int]
) -> ColumnElement[bool]:
    """``column`` is one of ``values``; nothing is one of none."""
    return any_of_bound(column, bindparam(None, as_array(values), type_=String, unique=True))


def any_of_bound(column: ColumnElement[Any], array: BindParameter[str]) -> ColumnElement[bool]:
    """The same for statements prepared once; the parameter's value comes from :func:`as_array`."""
    value = _ArrayElements(array).table_valued("value").c.value
    return column.in_(select(value if isinstance(column.type, String) else cast(value, Integer)))


def elements(values: Iterable[str]) -> ColumnElement[str]:
    """A column with each of the texts in a row, for a ``select`` of its own."""
    array = bindparam(None, as_array(values), type_=String, unique=True)
    column: ColumnElement[str] = _ArrayElements(array).table_valued("value").c.value
    return column


def as_array(values: Iterable[str] | Iterable[int]) -> str:
    """The value of the parameter that stands for ``values``."""
    return json.dumps(list(values))
