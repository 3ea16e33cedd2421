"""The readers of all formats, each imported when its first file is read.

Each takes the bytes and the name of a file, and raises ``IngestError`` for one it cannot read.
"""

from __future__ import annotations

from eagle_rag_lakehouse_bi.objects import Catalog


def dbt_manifest(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest

    return read_dbt_manifest(data, name)


def dbt_catalog(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.dbt_artifacts import read_dbt_catalog

    return read_dbt_catalog(data, name)


def dbt_results(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.dbt_artifacts import read_dbt_results

    return read_dbt_results(data, name)


def semantic_manifest(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.metricflow import read_semantic_manifest

    return read_semantic_manifest(data, name)


def cube_meta(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.cube import read_cube_meta

    return read_cube_meta(data, name)


def wren(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.wren import read_wren

    return read_wren(data, name)


def iceberg(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.table_formats import read_iceberg

    return read_iceberg(data, name)


def delta(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.table_formats import read_delta

    return read_delta(data, name)


def lookml(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.lookml import read_lookml

    return read_lookml(data, name)


def information_schema(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.information_schema import read_information_schema

    return read_information_schema(data, name)


def query_history(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.query_log import read_query_history

    return read_query_history(data, name)


def parquet(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.parquet import read_parquet

    return read_parquet(data, name)


def sql_ddl(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.sql_ddl import read

    return read(data, name)


def sql_queries(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.query_log import read

    return read(data, name)


def ossie(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.ossie import read_ossie

    return read_ossie(data, name)


def snowflake(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.snowflake import read_snowflake

    return read_snowflake(data, name)


def metric_view(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.metric_view import read_metric_view

    return read_metric_view(data, name)


def cube_yaml(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.cube import read_cube_yaml

    return read_cube_yaml(data, name)


def dbt_yaml(data: bytes, name: str) -> Catalog:
    from eagle_rag_lakehouse_bi.readers.metricflow import read_dbt_yaml

    return read_dbt_yaml(data, name)
