"""What a home holds on disk, read behind the product's back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from e2e.product import ON_MILVUS, Deployment

_NOTHING_OF = {
    "versions no reader sees": """
        SELECT count(*) FROM versions v
        WHERE v.version_id NOT IN (SELECT visible_version FROM documents)""",
    "documents whose version is missing": """
        SELECT count(*) FROM documents d
        WHERE d.visible_version NOT IN (SELECT version_id FROM versions)""",
    "sections without a version": """
        SELECT count(*) FROM sections WHERE version_id NOT IN (SELECT version_id FROM versions)""",
    "chunks without a version": """
        SELECT count(*) FROM chunks WHERE version_id NOT IN (SELECT version_id FROM versions)""",
    "records without a version": """
        SELECT count(*) FROM pack_records
        WHERE version_id NOT IN (SELECT version_id FROM versions)""",
    "tags without a document": """
        SELECT count(*) FROM document_tags
        WHERE document_id NOT IN (SELECT document_id FROM documents)""",
    "documents that miscount their chunks": """
        SELECT count(*) FROM documents d WHERE d.chunks !=
        (SELECT count(*) FROM chunks c WHERE c.version_id = d.visible_version)""",
    "documents of no knowledge base": """
        SELECT count(*) FROM documents d
        WHERE NOT EXISTS (SELECT 1 FROM kbs k WHERE k.name = d.kb_name AND NOT k.deleted)""",
}
#: Of vectors that are rows of the catalog.
_NOTHING_OF_VECTORS = {
    "vectors without a chunk": """
        SELECT count(*) FROM vector_rows WHERE node_id NOT IN (SELECT node_id FROM chunks)
        AND node_id NOT IN (SELECT image_id FROM tiles)""",
    "chunks without a vector": """
        SELECT count(*) FROM chunks WHERE node_id NOT IN (SELECT node_id FROM vector_rows)""",
    "vectors of another document or knowledge base than their chunk": """
        SELECT count(*) FROM vector_rows r JOIN chunks c USING (node_id)
        JOIN documents d ON d.visible_version = c.version_id
        JOIN kbs k ON k.namespace = d.namespace AND k.name = d.kb_name
        WHERE (r.version_id, r.document_id, r.kb_name)
        != (c.version_id, d.document_id, k.seed)""",
}


def rows(deployment: Deployment, query: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows a query gives."""
    with closing(sqlite3.connect(f"file:{deployment.catalog}?mode=ro", uri=True)) as db:
        return db.execute(query, values).fetchall()


def count(deployment: Deployment, query: str, *values: object) -> int:
    return int(rows(deployment, query, *values)[0][0])


def leftovers(deployment: Deployment) -> dict[str, int]:
    """Rows that nothing needs, or that miss what they need, by kind; empty in a sound home."""
    queries = _NOTHING_OF if ON_MILVUS else {**_NOTHING_OF, **_NOTHING_OF_VECTORS}
    found = {name: count(deployment, query) for name, query in queries.items()}
    return {name: number for name, number in found.items() if number}


def content(deployment: Deployment) -> list[tuple[Any, ...]]:
    """Every indexed passage: file name, place, text, and tokens and vector as far as the catalog
    keeps them, in order."""
    found = rows(
        deployment,
        """SELECT d.source_uri, c.ordinal, c.start, c."end", c.text, r.tokens, r.dense
        FROM chunks c JOIN documents d ON d.visible_version = c.version_id
        LEFT JOIN vector_rows r USING (node_id)""",
    )
    return sorted((uri.rpartition("/")[2], *rest) for uri, *rest in found)


def jobs(deployment: Deployment) -> dict[str, str]:
    """Status by job id."""
    return dict(rows(deployment, "SELECT job_id, status FROM jobs"))


def document_text(deployment: Deployment, document_id: str) -> str:
    """The stored text that offsets of a document refer to."""
    ((text,),) = rows(
        deployment,
        """SELECT v.text FROM versions v JOIN documents d ON d.visible_version = v.version_id
        WHERE d.document_id = ?""",
        document_id,
    )
    return str(text)
