"""Files with something broken in them: what is broken is named, everything else is read."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from eagle_rag_lakehouse_bi.parsers import catalog_parsers
from eagle_rag_lakehouse_bi.rendering import RenderedCatalog

_PARSERS = {p.name.removeprefix("lakehouse_bi_"): p for p in catalog_parsers()}
#: Read from the first bytes and the footer alone; a footer that is broken has no part to read.
_WHOLE_OR_NOTHING = {"parquet"}


class Case(NamedTuple):
    """:param told: parts of the messages that name what is broken, in order."""

    file: str
    told: tuple[str, ...]


CASES = {
    "dbt_manifest": Case(
        '{"metadata": {"dbt_schema_version": "https://x/dbt/manifest/v12.json"}, "nodes": {'
        '"model.p.good": {"unique_id": "model.p.good", "resource_type": "model", "name": "good"},'
        '"model.p.bad": {"unique_id": "model.p.bad", "resource_type": "model", "name": null},'
        '"model.p.worse": 7}, "metrics": {"m": {"unique_id": "metric.p.m", "name": 5}}}',
        ("model.p.worse", "model.p.bad", "metric.p.m"),
    ),
    "dbt_catalog": Case(
        '{"nodes": {"a": {"unique_id": "model.p.good", "metadata": {"name": "good"}},'
        '"b": {"unique_id": "model.p.bad", "metadata": []}, "c": []}}',
        ("c is malformed", "model.p.bad"),
    ),
    "dbt_results": Case(
        '{"results": [{"unique_id": "model.p.good", "status": "success"},'
        '{"unique_id": 5, "status": []}, "x"]}',
        ("Number 3 of “results”", "An object without a name"),
    ),
    "semantic_manifest": Case(
        '{"semantic_models": [{"name": "good", "node_relation": {"alias": "good"}},'
        '{"name": "bad", "node_relation": 7}, 3], "metrics": [{"name": []}]}',
        ("Number 3 of “semantic_models”", "bad names no table", "An object without a name"),
    ),
    "cube_meta": Case(
        '{"cubes": [{"name": "good", "measures": [{"name": null}], "dimensions": [{"type": "x"}]},'
        '{"name": 4}, null]}',
        ("Number 3 of “cubes”", "A dimension of good", "An object without", "An object without"),
    ),
    "cube": Case(
        "cubes:\n  - name: good\n    sql_table: good\n    measures:\n      - {type: sum}\n"
        "    joins:\n      - {sql: y}\n  - sql_table: bad\n",
        ("(line 5)", "(line 7)", "(line 8)"),
    ),
    "wren_mdl": Case(
        '{"models": [{"name": "good", "columns": [{"type": "int"}]}, {"tableReference": {}}],'
        '"relationships": [{"name": "r", "models": ["good"], "joinType": "X"}]}',
        ("A column of good", "An object without a name", "r is malformed"),
    ),
    "wren_project": Case(
        "models:\n  - name: good\n  - table_reference: {table: bad}\n"
        "relationships:\n  - {name: r, models: [good], join_type: x}\n",
        ("(line 3)", "r is malformed"),
    ),
    "iceberg": Case(
        '{"format-version": 2, "location": "s3://b/good", "schemas": [{"schema-id": 0, "fields":'
        '[{"id": 1, "name": "a", "type": "int"}, {"id": 2}, "x"]}], "current-schema-id": 0}',
        ("Number 3 of “fields”", "1 column without a name"),
    ),
    "delta": Case(
        '{"metaData": {"name": "good", "schemaString":'
        '"{\\"fields\\":[{\\"name\\":\\"a\\"},{\\"type\\":3}]}"}}\n{broken\n',
        ("Line 2", "1 column without a name"),
    ),
    "ossie": Case(
        "semantic_model:\n  - name: sm\n    datasets:\n"
        "      - {name: good, source: good, fields: [{expression: x}]}\n      - {source: bad}\n"
        "    metrics:\n      - {expression: 4}\n"
        "    relationships:\n      - {name: r, from: good}\n",
        ("A field of good", "(line 5)", "r is malformed", "(line 7)"),
    ),
    "snowflake": Case(
        "name: sm\ntables:\n  - name: good\n    base_table: {table: good}\n"
        "    dimensions: [{expr: b}]\n  - base_table: {table: bad}\n  - bad\n"
        "relationships:\n  - {name: r, left_table: good}\nverified_queries:\n  - {name: q}\n",
        ("Number 3 of “tables”", "of good has no name", "(line 6)", "r is", "q is"),
    ),
    "metric_view": Case(
        "source: good\ndimensions:\n  - {expr: b}\nmeasures:\n  - {expr: sum(x)}\n"
        "joins:\n  - {on: x}\n",
        ("A dimension of", "(line 5)", "(line 7)"),
    ),
    "dbt_yaml": Case(
        "models:\n  - name: good\n    columns: [{name: a}, {description: x}]\n"
        "  - description: bad\nmetrics:\n  - {type: simple}\n",
        ("1 column of good", "(line 4)", "(line 6)"),
    ),
    "lookml": Case(
        "view: good {\n  sql_table_name: good ;;\n}\nview: {\n  dimension: x { }\n}\n",
        ("An object without a name",),
    ),
    "information_schema": Case(
        "table_name,column_name\ngood,a\n,b\ngood,\n", ("Row 2 names", "Row 3 names")
    ),
    "query_history": Case(
        "query_id,query_text\n1,select a.x from good a join b on a.x = b.y\n2,SELECT FROM (((\n",
        ("Line 2",),
    ),
    "sql_ddl": Case("CREATE TABLE good (a int);\nCREATE TABLE bad (((;\n", ("Line 2",)),
    "sql_queries": Case("-- good\nselect a from good;\nselect from where (((;\n", ("Line 3",)),
}


def test_every_format_has_its_broken_file() -> None:
    assert set(CASES) | _WHOLE_OR_NOTHING == set(_PARSERS)


@pytest.mark.parametrize("format", CASES)
def test_what_is_broken_is_named_and_the_rest_is_read(format: str) -> None:
    case = CASES[format]
    parsed = _PARSERS[format].parse(case.file.encode(), "file")
    assert isinstance(parsed.payload, RenderedCatalog)
    catalog = parsed.payload.catalog
    messages = [problem.message for problem in catalog.problems]
    assert len(messages) == len(case.told), messages
    for message, part in zip(messages, case.told, strict=True):
        assert part in message
        assert message in parsed.text
    assert "good" in repr((catalog.tables, catalog.queries, catalog.freshness))
