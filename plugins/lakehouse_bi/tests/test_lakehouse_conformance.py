"""The tests every pack should pass."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackConformance


class TestLakehouseBi(PackConformance):
    pack = eagle_rag_lakehouse_bi
    namespace = "lakehouse_bi"
    corpus = Path(__file__).parent.parent / "examples"
    arguments: ClassVar = {
        "query_semantic_context": {"query": "revenue per customer"},
        "search_objects": {"query": "revenue of customers"},
        "get_objects": {"urns": ["lh://corner_shop/table/warehouse.marts.orders"]},
        "list_metrics": {},
        "get_metric": {"metric": "gross_revenue"},
        "find_join_paths": {"tables": ["order_lines", "customers"]},
        "validate_sql": {
            "sql": "SELECT c.customer_id, SUM(o.total) FROM orders o JOIN customers c"
            " ON o.customer_id = c.customer_id GROUP BY 1"
        },
        "explain_sql": {"sql": "SELECT SUM(total) FROM orders"},
        "resolve_values": {"phrases": ["paid"]},
        "check_freshness": {"tables": ["orders"]},
        "get_glossary": {},
        "retrieve_analyses": {"query": "weekly sales", "tables": ["orders"]},
        "search_queries": {"question": "takings by city"},
        "trace_lineage": {"table": "till.daily_takings"},
        "compare_versions": {},
        "list_sources": {},
    }
