"""Tables of the catalog, the one transactional truth of a deployment.

Everything that must change together lives here, vectors of the local backend included, so that
a document's new version becomes visible in one transaction. Times are ISO 8601 UTC text of
fixed width, which sorts as time does.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

kbs = Table(
    "kbs",
    metadata,
    Column("namespace", String(64), primary_key=True),
    Column("name", String(64), primary_key=True),
    # What ids of documents and rows of vectors are made of: the name at first (or something
    # derived from it, while another has that seed), and kept when the name changes.
    Column("seed", String(64), nullable=False, server_default=""),
    Column("title", Text, nullable=False, default=""),
    Column("description", Text, nullable=False, server_default=""),
    # Raised by every commit that changes what a search in the KB can return.
    Column("epoch", Integer, nullable=False, default=0),
    # Being emptied, under a name nobody can ask for; see kb_changes.
    Column("deleted", Boolean, nullable=False, server_default=false()),
    Column("created_at", String(27), nullable=False),
    Column("updated_at", String(27), nullable=False),
    Index(None, "namespace", "seed", unique=True),
)

documents = Table(
    "documents",
    metadata,
    Column("document_id", String(32), primary_key=True),
    Column("namespace", String(64), nullable=False),
    Column("kb_name", String(64), nullable=False),
    Column("source_uri", Text, nullable=False),
    Column("source_type", Text, nullable=False, default=""),
    Column("title", Text, nullable=False, default=""),
    Column("media_type", Text, nullable=False, default=""),
    Column("language", String(35), nullable=False, default=""),
    Column("metadata", JSON, nullable=False, default=dict),
    # The one version readers see; switched in the transaction that writes it.
    Column("visible_version", String(32), nullable=False),
    # Number of its chunks.
    Column("chunks", Integer, nullable=False),
    # What its submitter said of it (title, tags, …), for making it anew.
    Column("given", JSON, nullable=False, server_default="{}"),
    Column("created_at", String(27), nullable=False),
    Column("updated_at", String(27), nullable=False),
    # All that the list of knowledge bases counts.
    Index(None, "namespace", "kb_name", "language", "chunks"),
    Index(None, "namespace", "updated_at", "document_id"),
    # A chunk finds its document, and whether readers see it, by its version alone.
    Index(None, "visible_version", unique=True),
)

document_tags = Table(
    "document_tags",
    metadata,
    Column(
        "document_id",
        ForeignKey(documents.c.document_id, ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("tag", String(128), primary_key=True),
    Index(None, "tag"),
)

versions = Table(
    "versions",
    metadata,
    Column("version_id", String(32), primary_key=True),
    Column("document_id", ForeignKey(documents.c.document_id, ondelete="CASCADE"), nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("size", Integer, nullable=False),
    # SHA-256 of the PDF that shows its pages, "" where the original does, or nothing.
    Column("rendition", String(64), nullable=False, server_default=""),
    # The normalised text that every offset of the version refers to.
    Column("text", Text, nullable=False),
    Column("created_at", String(27), nullable=False),
    Index(None, "document_id"),
    # The same content elsewhere has its vectors already.
    Index(None, "content_hash"),
    Index(None, "rendition"),
)

sections = Table(
    "sections",
    metadata,
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("parent", Integer, nullable=False),
    Column("level", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("body_end", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("summary", Text, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("node_id", String(32), primary_key=True),
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("section", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("text", Text, nullable=False),
    # What enrichers of packs added, by pack namespace.
    Column("fields", JSON, nullable=False, default=dict),
    Index(None, "version_id", "ordinal", unique=True),
    Index(None, "version_id", "section"),
)

# Regions of pages, and pictures, that can be shown.
tiles = Table(
    "tiles",
    metadata,
    Column("image_id", String(32), primary_key=True),
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    # 0 for a picture in a document without pages.
    Column("page", Integer, nullable=False),
    # "x0,y0,x1,y1", shares of the page.
    Column("box", String(32), nullable=False),
    # Name of the picture inside the original, "" for a region of a page.
    Column("part", Text, nullable=False),
    Column("section", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("text_source", String(8), nullable=False),
    Column("caption", Text, nullable=False),
    Index(None, "version_id", "ordinal", unique=True),
)

# Which part of the text stands on which page, for finding its words there.
pages = Table(
    "pages",
    metadata,
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), primary_key=True),
    Column("page", Integer, primary_key=True),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    # What OCR read, where the page has no text of its own: [[text, "x0,y0,x1,y1", turns], …].
    Column("lines", JSON, nullable=False),
)

pack_records = Table(
    "pack_records",
    metadata,
    Column("record_id", Integer, primary_key=True, autoincrement=True),
    Column("namespace", String(64), nullable=False),
    Column("pack", String(64), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("kb_name", String(64), nullable=False),
    Column("document_id", String(32), nullable=False),
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), nullable=False),
    Column("node_id", String(32), nullable=False, default=""),
    Column("fields", JSON, nullable=False, default=dict),
    Column("data", JSON, nullable=False, default=dict),
    Index(None, "namespace", "pack", "kind", "kb_name"),
    Index(None, "version_id"),
)

record_values = Table(
    "record_values",
    metadata,
    Column("value_id", Integer, primary_key=True, autoincrement=True),
    Column(
        "record_id",
        ForeignKey(pack_records.c.record_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("namespace", String(64), nullable=False),
    Column("pack", String(64), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("field", String(64), nullable=False),
    Column("text_value", Text),
    Column("number_value", Float),
    Index(None, "namespace", "pack", "kind", "field", "text_value"),
    Index(None, "namespace", "pack", "kind", "field", "number_value"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", String(32), primary_key=True),
    Column("namespace", String(64), nullable=False),
    Column("kb_name", String(64), nullable=False),
    Column("document_id", String(32), nullable=False),
    Column("source_uri", Text, nullable=False),
    Column("request", JSON, nullable=False),
    Column("caller_id", Text, nullable=False),
    # Only a worker with the same pipeline (parsers, chunker, analyzer, packs) may claim the job.
    Column("fingerprint", String(64), nullable=False),
    # [namespace, version] of the packs of that pipeline, to say which one a worker lacks.
    Column("packs", JSON, nullable=False, server_default="[]"),
    Column("status", String(16), nullable=False),
    Column("stage", String(16), nullable=False, default=""),
    Column("progress", Float, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),
    # Lower ones come first.
    Column("priority", Integer, nullable=False, default=0),
    # Seconds since the epoch; when a broker was told of the job, 0 for not yet.
    Column("dispatched_at", Float, nullable=False, server_default="0"),
    # Seconds since the epoch; a retry waits until then.
    Column("not_before", Float, nullable=False, default=0.0),
    Column("lease_owner", String(64), nullable=False, default=""),
    # Fencing token: raised by every claim; a write with an older one is refused.
    Column("lease_token", Integer, nullable=False, default=0),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("dedup_hit", Boolean, nullable=False, default=False),
    Column("dead", Boolean, nullable=False, default=False),
    Column("error_code", String(32), nullable=False, default=""),
    Column("error", Text, nullable=False, default=""),
    Column("created_at", String(27), nullable=False),
    Column("started_at", String(27), nullable=False, default=""),
    Column("finished_at", String(27), nullable=False, default=""),
    Index(None, "namespace", "status", "priority", "created_at"),
    Index(None, "namespace", "created_at", "job_id"),
    Index(None, "document_id", "status"),
)

# Folders, sites and buckets that are read again and again; they become documents item by item.
sources = Table(
    "sources",
    metadata,
    Column("source_id", String(32), primary_key=True),
    Column("namespace", String(64), nullable=False),
    Column("kb_name", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("uri", Text, nullable=False),
    # How to read it: patterns, depth, tags.
    Column("spec", JSON, nullable=False),
    # Number of its latest run.
    Column("run", Integer, nullable=False, default=0),
    # Failed runs since the last one that succeeded.
    Column("failures", Integer, nullable=False, default=0),
    # Seconds since the epoch; scheduled runs wait until then.
    Column("next_at", Float, nullable=False, default=0.0),
    # The process that runs it on schedule, and how long it may be silent.
    Column("lease_owner", String(64), nullable=False, default=""),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("error_code", String(32), nullable=False, default=""),
    Column("error", Text, nullable=False, default=""),
    # What became of the items of the latest run, by outcome.
    Column("counts", JSON, nullable=False, default=dict),
    Column("created_at", String(27), nullable=False),
    Column("ran_at", String(27), nullable=False, default=""),
    Column("succeeded_at", String(27), nullable=False, default=""),
    Index(None, "namespace"),
)

source_items = Table(
    "source_items",
    metadata,
    Column("source_id", ForeignKey(sources.c.source_id, ondelete="CASCADE"), primary_key=True),
    # Hash of the URI, which may be longer than an index holds.
    Column("item_id", String(32), primary_key=True),
    Column("uri", Text, nullable=False),
    # What the listing said of its content (an ETag, times and size); "" when it said nothing.
    Column("revision", Text, nullable=False),
    # Hash of the pipeline and of what was asked of it: tags, title, metadata.
    Column("recipe", String(32), nullable=False),
    Column("document_id", String(32), nullable=False),
    Column("job_id", String(32), nullable=False),
    # The run that listed it last.
    Column("seen", Integer, nullable=False),
    Index(None, "source_id", "seen"),
    Index(None, "document_id"),
)

# What an origin said of the content it served, for asking "has it changed?" next time.
fetch_validators = Table(
    "fetch_validators",
    metadata,
    Column(
        "document_id", ForeignKey(documents.c.document_id, ondelete="CASCADE"), primary_key=True
    ),
    Column("content_hash", String(64), nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
)

vector_collections = Table(
    "vector_collections",
    metadata,
    Column("namespace", String(64), primary_key=True),
    # Kind and embedder fingerprint, e.g. text_1a2b3c4d.
    Column("name", String(64), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("embedder", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("dim", Integer, nullable=False),
    # The collection of its kind that ingest writes and searches read.
    Column("active", Boolean, nullable=False),
    # Seconds since the epoch; when another took its place, 0 while that has not happened.
    Column("replaced_at", Float, nullable=False, server_default="0"),
    # Trained quantiser parameters, so that all processes agree.
    Column("trained", LargeBinary),
    Column("created_at", String(27), nullable=False),
)

# The rows a version has in further collections of vectors, by their kind; every version has rows
# in the text collection. Goes with the version.
version_collections = Table(
    "version_collections",
    metadata,
    Column("version_id", ForeignKey(versions.c.version_id, ondelete="CASCADE"), primary_key=True),
    Column("kind", String(32), primary_key=True),
    # What scopes name, so that asking whether a scope holds any needs no join.
    Column("namespace", String(64), nullable=False),
    Column("document_id", String(32), nullable=False),
    Column("kb_seed", String(64), nullable=False),
    Column("rows", Integer, nullable=False),
    Index(None, "namespace", "kind", "kb_seed"),
    Index(None, "namespace", "kind", "document_id"),
)

vector_rows = Table(
    "vector_rows",
    metadata,
    Column("namespace", String(64), primary_key=True),
    Column("collection", String(64), primary_key=True),
    Column("node_id", String(32), primary_key=True),
    Column("version_id", String(32), nullable=False),
    Column("document_id", String(32), nullable=False),
    # Seed of the knowledge base, so that a new name changes no row.
    Column("kb_name", String(64), nullable=False),
    # Little-endian float32, unit length; NULL in a lexical-only collection.
    Column("dense", LargeBinary),
    # Analysed tokens in text order, separated by one space.
    Column("tokens", Text, nullable=False),
    Index(None, "namespace", "collection", "version_id"),
)

vector_changes = Table(
    "vector_changes",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("namespace", String(64), nullable=False),
    Column("collection", String(64), nullable=False),
    Column("op", String(8), nullable=False),  # add | drop
    Column("version_id", String(32), nullable=False),
    Index(None, "namespace", "seq"),
    sqlite_autoincrement=True,  # a number is never given twice, also after deletes
)

vector_state = Table(
    "vector_state",
    metadata,
    Column("namespace", String(64), primary_key=True),
    # Raised by restore and by everything that rewrites the feed: indexes are rebuilt.
    Column("generation", Integer, nullable=False),
)

vector_retirements = Table(
    "vector_retirements",
    metadata,
    Column("namespace", String(64), primary_key=True),
    Column("collection", String(64), primary_key=True),
    Column("version_id", String(32), primary_key=True),
    Column("due_at", Float, nullable=False),
)
