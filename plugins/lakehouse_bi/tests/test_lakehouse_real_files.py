"""Files of real projects, where they are at hand: they read, or are named with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.choice import best_parser
from eagle_rag_lakehouse_bi.objects import Catalog
from eagle_rag_lakehouse_bi.parsers import catalog_parsers


def catalogs(folder: Path, pattern: str) -> Iterator[tuple[Path, Catalog | IngestError]]:
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is absent")
    parsers = catalog_parsers()
    for path in sorted(folder.glob(pattern)):
        data = path.read_bytes()
        parser = best_parser(parsers, data[:65_536], path.name)
        assert parser is not None, path.name
        try:
            yield path, parser.parse(data, path.name).payload.catalog
        except IngestError as error:
            yield path, error


def test_all_artifacts_of_dbt_read(test_data: Path) -> None:
    for path, catalog in catalogs(test_data / "dbt_manifests", "*.json"):
        assert isinstance(catalog, Catalog), path.name
        assert catalog.problems == (), path.name
        assert catalog.tables or catalog.freshness


def test_both_layouts_of_metrics_read(test_data: Path) -> None:
    found = dict(catalogs(test_data / "dbt_manifests", "v12_*manifest_1.1*.json"))
    metrics = {path.name: len(c.metrics) for path, c in found.items() if isinstance(c, Catalog)}
    assert metrics == {
        "v12_jaffle_shop_manifest_1.10.json": 19,
        "v12_jaffle_shop_manifest_1.12.json": 23,
    }


def test_lookml_reads_but_for_files_without_content(test_data: Path) -> None:
    found = list(catalogs(test_data / "lookml", "*.lkml"))
    refused = [error for _, error in found if isinstance(error, IngestError)]
    assert len(found) >= 50
    assert len(refused) <= 0.02 * len(found)
    assert {error.code for error in refused} <= {ErrorCode.EMPTY_DOCUMENT}


@pytest.mark.parametrize(
    ("file", "tables", "relationships", "metrics"),
    [
        ("ossie/tpcds_semantic_model.yaml", 5, 4, 5),
        ("osi/tpcds_semantic_model.yaml", 5, 4, 5),
        ("ossie/tpcds_ossie.yaml", 4, 3, 2),
        ("ossie/flights.yaml", 6, 0, 0),
        ("ossie/tpcds_metric_view.yaml", 5, 3, 2),
        ("ossie/fixtureA_metric_view.yaml", 3, 1, 2),
        ("snowflake/ossie_tpcds_snowflake.yaml", 5, 4, 5),
        ("snowflake/customers.yml", 1, 0, 3),
        ("wren/examples_v5-jaffle_apps_sales-report_mdl.json", 3, 1, 2),
        ("wren/core_wren-core-base_tests_data_mdl.json", 4, 2, 0),
    ],
)
def test_semantic_models_read_completely(
    test_data: Path, file: str, tables: int, relationships: int, metrics: int
) -> None:
    path = test_data / file
    ((_, catalog),) = catalogs(path.parent, path.name)
    assert isinstance(catalog, Catalog)
    assert catalog.problems == ()
    stated = [r for r in catalog.relationships if r.evidence != "inferred"]
    assert (len(catalog.tables), len(stated), len(catalog.metrics)) == (
        tables,
        relationships,
        metrics,
    )


def test_queries_of_benchmarks_read_and_give_joins(test_data: Path) -> None:
    ((_, catalog),) = catalogs(test_data / "tpc", "tpc-h.sql")
    assert isinstance(catalog, Catalog)
    assert (len(catalog.queries), catalog.problems) == (44, ())
    best = catalog.relationships[0]
    assert (best.from_table, best.to_table) == ("lineitem", "orders")
    assert best.support >= 9
