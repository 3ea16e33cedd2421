"""What every application of a test process would work out anew, worked out once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from eagle_rag_core import app
from eagle_rag_core.catalog import migration
from eagle_rag_core.plugins.mcp_registry import mark_of
from eagle_rag_core.plugins.specs import ToolSpec


@pytest.fixture(scope="session", autouse=True)
def core_tools_are_described_once() -> Iterator[None]:
    """The schemas of the core's tools and the checks of their texts are the same in every app."""
    described: dict[object, ToolSpec] = {}
    describe = app.tool_spec_of

    def spec_of(function: Callable[..., Any], *, owner: str) -> ToolSpec:
        key = (function.__code__, repr(function.__defaults__), mark_of(function), owner)
        if key not in described:
            described[key] = describe(function, owner=owner)
        spec = described[key]
        # Tests of attacks write into the schemas of their app.
        arguments, result = copy(spec._arguments), copy(spec._result)
        arguments.json_schema = deepcopy(arguments.json_schema)
        result.json_schema = deepcopy(result.json_schema)
        return replace(spec, function=function, _arguments=arguments, _result=result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "tool_spec_of", spec_of)
        yield


@pytest.fixture(scope="session")
def schema_of_a_new_catalog() -> list[str]:
    """The statements that make what the migrations make of an empty SQLite file."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        migration.upgrade(connection)
    raw = engine.raw_connection().driver_connection
    assert isinstance(raw, sqlite3.Connection)
    # Without the transaction around them: there is one already.
    statements = list(raw.iterdump())[1:-1]
    engine.dispose()
    return statements


@pytest.fixture(scope="module", autouse=True)
def new_catalogs_are_not_migrated(
    request: pytest.FixtureRequest, schema_of_a_new_catalog: list[str]
) -> Iterator[None]:
    """A new SQLite catalog gets its tables at once, except in modules that are about migrations."""
    if "migrat" in request.module.__name__ or "upgrade" in request.module.__name__:
        yield
        return
    upgrade = migration.upgrade

    def create(tx: Connection, to: str = "head") -> None:
        new = tx.dialect.name == "sqlite" and migration.stored_revision(tx) is None
        if not new or to != "head":
            return upgrade(tx, to)
        for statement in schema_of_a_new_catalog:
            tx.exec_driver_sql(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migration, "upgrade", create)
        yield
