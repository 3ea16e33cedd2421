"""Milvus collections: their fields, indexes and limits."""

from __future__ import annotations

from typing import Any

from eagle_rag_core.vectors.filters import Field
from eagle_rag_core.vectors.store import Collection

DENSE = "dense"
SPARSE = "sparse"
TOKENS = "tokens"

#: The longest text field Milvus has, in bytes.
MOST_TOKEN_BYTES = 65_535
_NAME_BYTES = 256

_K1 = 1.2
_B = 0.75


def create_collection(
    client: Any, collection: Collection, *, embedded_engine: bool, timeout: float
) -> None:
    """Create a collection with its indexes unless it exists, and load it for searches."""
    from pymilvus.exceptions import MilvusException

    name = collection.name
    if not client.has_collection(name, timeout=timeout):
        try:
            # Reads see what was written because writes wait for it; see the store.
            client.create_collection(
                name,
                schema=_schema(client, collection),
                consistency_level="Bounded",
                timeout=timeout,
            )
        except MilvusException:
            if not client.has_collection(name, timeout=timeout):  # else another was quicker
                raise
    if not client.list_indexes(name, timeout=timeout):  # perhaps its creator died in between
        indexes = _indexes(client, collection, embedded_engine)
        client.create_index(name, indexes, sync=False, timeout=timeout)
    client.load_collection(name, timeout=timeout)


def _schema(client: Any, collection: Collection) -> Any:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    name = {"datatype": DataType.VARCHAR, "max_length": _NAME_BYTES}
    schema.add_field(Field.NODE_ID, is_primary=True, **name)
    schema.add_field(Field.VERSION_ID, **name)
    schema.add_field(Field.DOCUMENT_ID, **name)
    schema.add_field(Field.KB_NAME, is_partition_key=True, **name)
    if collection.dim:
        schema.add_field(DENSE, DataType.FLOAT_VECTOR, dim=collection.dim)
    # Encoded tokens pass through this tokenizer whole.
    schema.add_field(
        TOKENS,
        DataType.VARCHAR,
        max_length=MOST_TOKEN_BYTES,
        enable_analyzer=True,
        analyzer_params={"tokenizer": "standard"},
    )
    schema.add_field(SPARSE, DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=[TOKENS],
            output_field_names=[SPARSE],
        )
    )
    return schema


def _indexes(client: Any, collection: Collection, embedded_engine: bool) -> Any:
    indexes = client.prepare_index_params()
    indexes.add_index(
        SPARSE,
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params={"bm25_k1": _K1, "bm25_b": _B},
    )
    if collection.dim:
        # Milvus Lite's graph index finds next to nothing under a narrow filter.
        kind = "FLAT" if embedded_engine else "AUTOINDEX"
        indexes.add_index(DENSE, index_type=kind, metric_type="IP")
    return indexes
