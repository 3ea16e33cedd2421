"""Parsers the core calls at ingest: catalog files become readable text with structure.

The objects themselves travel to the pack's enricher as the ``payload`` of the parsed document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import ParsedDocument
from eagle_rag_lakehouse_bi import recognition
from eagle_rag_lakehouse_bi.inference import with_inferred_joins
from eagle_rag_lakehouse_bi.objects import Catalog
from eagle_rag_lakehouse_bi.readers import formats
from eagle_rag_lakehouse_bi.readers.encoding import decoded
from eagle_rag_lakehouse_bi.recognition import Recogniser, json_with, yaml_with
from eagle_rag_lakehouse_bi.rendering import render

Reader = Callable[[bytes, str], Catalog]


@dataclass
class CatalogParser:
    """Reads one format of catalog files.

    :param what: the format in words, for messages.
    :param title: of documents, around the name of the catalog.
    :param readable: whether a file that describes nothing is worth reading as it stands.
    """

    name: str
    what: str
    media_type: str
    sniff: Recogniser
    reader: Reader
    version: str = "3"
    title: str = "{}"
    readable: bool = False

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """The catalog as text, with its objects as payload.

        :raises IngestError: the file is damaged, or describes nothing and is not ``readable``.
        """
        catalog = self.reader(data, name)
        if catalog.empty and self.readable and (text := decoded(data)).strip():
            return ParsedDocument(text=text, media_type=self.media_type, title=name)
        if catalog.empty:
            raise IngestError(
                f"The {self.what} describes no table, metric, query or term.",
                code=ErrorCode.EMPTY_DOCUMENT,
            )
        rendered = render(with_inferred_joins(catalog))
        return ParsedDocument(
            text=rendered.text,
            media_type=self.media_type,
            headings=rendered.headings,
            title=self.title.format(catalog.name),
            metadata={"catalog_format": catalog.format},
            payload=rendered,
        )


def catalog_parsers() -> list[CatalogParser]:
    """A parser for every format, those that look closest first."""
    return [
        _json(
            "dbt_manifest",
            "dbt manifest",
            recognition.dbt("manifest"),
            formats.dbt_manifest,
            title="dbt project {}",
        ),
        _json(
            "dbt_catalog",
            "dbt catalog",
            recognition.dbt("catalog"),
            formats.dbt_catalog,
        ),
        _json(
            "dbt_results",
            "dbt results",
            recognition.dbt("(?:run-results|sources)"),
            formats.dbt_results,
        ),
        _json(
            "semantic_manifest",
            "semantic manifest",
            json_with(
                r'"semantic_models"\s*:',
                r'"(?:node_relation|project_configuration)"\s*:',
                without="dbt_schema_version",
            ),
            formats.semantic_manifest,
        ),
        _json(
            "cube_meta",
            "Cube meta",
            json_with(r'"cubes"\s*:\s*\[', r'"(?:measures|dimensions)"\s*:', without='"models"'),
            formats.cube_meta,
        ),
        _json(
            "wren_mdl",
            "MDL manifest",
            json_with(
                r'"models"\s*:\s*\[',
                r'"(?:tableReference|refSql|baseObject|joinType|layoutVersion)"\s*:',
            ),
            formats.wren,
        ),
        _json(
            "iceberg",
            "Iceberg metadata",
            json_with(r'"format-version"\s*:', r'"(?:schemas?|table-uuid|location)"\s*:'),
            formats.iceberg,
        ),
        _json(
            "delta",
            "Delta log",
            json_with(r'"metaData"\s*:\s*\{', r'"schemaString"\s*:'),
            formats.delta,
        ),
        *_yaml_parsers(),
        CatalogParser(
            "lakehouse_bi_lookml",
            "LookML file",
            "text/x-lookml",
            recognition.lookml,
            formats.lookml,
        ),
        CatalogParser(
            "lakehouse_bi_information_schema",
            "export",
            "text/csv",
            recognition.information_schema,
            formats.information_schema,
        ),
        CatalogParser(
            "lakehouse_bi_query_history",
            "query history",
            "text/csv",
            recognition.query_history,
            formats.query_history,
        ),
        CatalogParser(
            "lakehouse_bi_parquet",
            "Parquet file",
            "application/vnd.apache.parquet",
            recognition.parquet,
            formats.parquet,
        ),
        CatalogParser(
            "lakehouse_bi_sql_ddl",
            "SQL script",
            "application/sql",
            recognition.sql_ddl,
            formats.sql_ddl,
            readable=True,
        ),
        CatalogParser(
            "lakehouse_bi_sql_queries",
            "SQL script",
            "application/sql",
            recognition.sql_queries,
            formats.sql_queries,
            readable=True,
        ),
    ]


def _yaml_parsers() -> list[CatalogParser]:
    return [
        _yaml(
            "ossie",
            "Ossie document",
            (r"^(?:semantic_model|ontology|ontology_mappings):",),
            formats.ossie,
        ),
        _yaml(
            "snowflake",
            "semantic model",
            (r"^tables:", r"^\s+base_table:"),
            formats.snowflake,
        ),
        _yaml(
            "metric_view",
            "metric view",
            (r"^source:", r"^(?:measures|dimensions|fields):"),
            formats.metric_view,
        ),
        _yaml(
            "cube",
            "Cube data model",
            (r"^(?:cubes|views):", r"^\s*-?\s*(?:measures|dimensions|cubes|sql_table|sql|joins):"),
            formats.cube_yaml,
        ),
        _yaml(
            "wren_project",
            "MDL project file",
            (r"^(?:models|relationships):", r"^\s+(?:join_type|table_reference|ref_sql):"),
            formats.wren,
        ),
        _yaml(
            "dbt_yaml",
            "dbt YAML",
            (
                r"^(?:models|seeds|snapshots|sources|semantic_models|metrics):",
                r"^\s+(?:- )?(?:columns|tables|entities|measures|type_params|semantic_model|agg):",
            ),
            formats.dbt_yaml,
        ),
    ]


def _json(
    name: str, what: str, sniff: Recogniser, reader: Reader, title: str = "{}"
) -> CatalogParser:
    full = f"lakehouse_bi_{name}"
    return CatalogParser(full, what, "application/json", sniff, reader, title=title)


def _yaml(name: str, what: str, patterns: tuple[str, ...], reader: Reader) -> CatalogParser:
    return CatalogParser(
        f"lakehouse_bi_{name}", what, "application/yaml", yaml_with(*patterns), reader
    )
