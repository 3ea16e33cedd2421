"""Milvus collections: their fields, indexes and limits."""

from __future__ import annotations

from typing import Any

from eagle_rag_core.errors import StorageError
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
    client: Any,
    collection: Collection,
    *,
    embedded_engine: bool,
    full_text: bool,
    timeout: float,
) -> None:
    """Create a collection with its indexes unless it exists, and load it for searches.

    :param full_text: Milvus computes BM25; otherwise tokens are only kept.
    :raises StorageError: this Milvus can search nothing of the collection.
    """
    from pymilvus.exceptions import MilvusException

    if not (full_text or collection.dim):
        raise StorageError(
            "This Milvus has no BM25, and without a text embedder there is nothing else to "
            "search; use Milvus 2.5 or newer.",
            retryable=False,
        )
    name = collection.name
    if not client.has_collection(name, timeout=timeout):
        try:
            # Reads see what was written because writes wait for it; see the store.
            client.create_collection(
                name,
                schema=_schema(client, collection, full_text),
                consistency_level="Bounded",
                timeout=timeout,
            )
        except MilvusException:
            if not client.has_collection(name, timeout=timeout):  # else another was quicker
                raise
    if not client.list_indexes(name, timeout=timeout):  # perhaps its creator died in between
        indexes = _indexes(client, collection, embedded_engine, full_text)
        client.create_index(name, indexes, sync=False, timeout=timeout)
    client.load_collection(name, timeout=timeout)


def _schema(client: Any, collection: Collection, full_text: bool) -> Any:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    name = {"datatype": DataType.VARCHAR, "max_length": _NAME_BYTES}
    schema.add_field(Field.NODE_ID, is_primary=True, **name)
    schema.add_field(Field.VERSION_ID, **name)
    schema.add_field(Field.DOCUMENT_ID, **name)
    # Servers that old put upserted rows into the wrong partition, where no filter finds them.
    schema.add_field(Field.KB_NAME, is_partition_key=full_text, **name)
    if collection.dim:
        schema.add_field(DENSE, DataType.FLOAT_VECTOR, dim=collection.dim)
    tokens = {"datatype": DataType.VARCHAR, "max_length": MOST_TOKEN_BYTES}
    if not full_text:
        schema.add_field(TOKENS, **tokens)
        return schema
    # Encoded tokens pass through this tokenizer whole.
    analyzer = {"tokenizer": "standard"}
    schema.add_field(TOKENS, enable_analyzer=True, analyzer_params=analyzer, **tokens)
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


def _indexes(client: Any, collection: Collection, embedded_engine: bool, full_text: bool) -> Any:
    indexes = client.prepare_index_params()
    if full_text:
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
