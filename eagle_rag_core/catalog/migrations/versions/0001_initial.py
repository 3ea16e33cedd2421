"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_library()
    _create_records()
    _create_jobs()
    _create_vectors()


def _create_library() -> None:
    op.create_table(
        "kbs",
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.Column("updated_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "name", name="pk_kbs"),
    )
    op.create_table(
        "documents",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("kb_name", sa.String(64), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("source_type", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("language", sa.String(35), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("visible_version", sa.String(32), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.Column("updated_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_documents"),
    )
    op.create_index(
        "ix_documents_namespace_kb_name_language_chunks",
        "documents",
        ["namespace", "kb_name", "language", "chunks"],
    )
    op.create_index(
        "ix_documents_namespace_updated_at_document_id",
        "documents",
        ["namespace", "updated_at", "document_id"],
    )
    op.create_index("ix_documents_visible_version", "documents", ["visible_version"], unique=True)
    op.create_table(
        "document_tags",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("tag", sa.String(128), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_document_tags_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", "tag", name="pk_document_tags"),
    )
    op.create_index("ix_document_tags_tag", "document_tags", ["tag"])
    op.create_table(
        "versions",
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_versions_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", name="pk_versions"),
    )
    op.create_index("ix_versions_document_id", "versions", ["document_id"])
    op.create_table(
        "sections",
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("parent", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("body_end", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.version_id"],
            name="fk_sections_version_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "ordinal", name="pk_sections"),
    )
    op.create_table(
        "chunks",
        sa.Column("node_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("section", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.version_id"], name="fk_chunks_version_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", name="pk_chunks"),
    )
    op.create_index(
        "ix_chunks_version_id_ordinal", "chunks", ["version_id", "ordinal"], unique=True
    )
    op.create_index("ix_chunks_version_id_section", "chunks", ["version_id", "section"])


def _create_records() -> None:
    op.create_table(
        "pack_records",
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("pack", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("kb_name", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("node_id", sa.String(32), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.version_id"],
            name="fk_pack_records_version_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("record_id", name="pk_pack_records"),
    )
    op.create_index(
        "ix_pack_records_namespace_pack_kind_kb_name",
        "pack_records",
        ["namespace", "pack", "kind", "kb_name"],
    )
    op.create_index("ix_pack_records_version_id", "pack_records", ["version_id"])
    op.create_table(
        "record_values",
        sa.Column("value_id", sa.Integer(), nullable=False),
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("pack", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("field", sa.String(64), nullable=False),
        sa.Column("text_value", sa.Text(), nullable=True),
        sa.Column("number_value", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["pack_records.record_id"],
            name="fk_record_values_record_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("value_id", name="pk_record_values"),
    )
    op.create_index(
        "ix_record_values_namespace_pack_kind_field_number_value",
        "record_values",
        ["namespace", "pack", "kind", "field", "number_value"],
    )
    op.create_index(
        "ix_record_values_namespace_pack_kind_field_text_value",
        "record_values",
        ["namespace", "pack", "kind", "field", "text_value"],
    )
    op.create_index("ix_record_values_record_id", "record_values", ["record_id"])


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("kb_name", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("caller_id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("lease_owner", sa.String(64), nullable=False),
        sa.Column("lease_token", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("dedup_hit", sa.Boolean(), nullable=False),
        sa.Column("dead", sa.Boolean(), nullable=False),
        sa.Column("error_code", sa.String(32), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.Column("started_at", sa.String(27), nullable=False),
        sa.Column("finished_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("job_id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_document_id_status", "jobs", ["document_id", "status"])
    op.create_index(
        "ix_jobs_namespace_created_at_job_id", "jobs", ["namespace", "created_at", "job_id"]
    )
    op.create_index(
        "ix_jobs_namespace_status_priority_created_at",
        "jobs",
        ["namespace", "status", "priority", "created_at"],
    )


def _create_vectors() -> None:
    op.create_table(
        "vector_collections",
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("trained", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "name", name="pk_vector_collections"),
    )
    op.create_table(
        "vector_rows",
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("collection", sa.String(64), nullable=False),
        sa.Column("node_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("kb_name", sa.String(64), nullable=False),
        sa.Column("dense", sa.LargeBinary(), nullable=True),
        sa.Column("tokens", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "collection", "node_id", name="pk_vector_rows"),
    )
    op.create_index(
        "ix_vector_rows_namespace_collection_version_id",
        "vector_rows",
        ["namespace", "collection", "version_id"],
    )
    op.create_table(
        "vector_changes",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("collection", sa.String(64), nullable=False),
        sa.Column("op", sa.String(8), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_vector_changes"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_vector_changes_namespace_seq", "vector_changes", ["namespace", "seq"])
    op.create_table(
        "vector_state",
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", name="pk_vector_state"),
    )
    op.create_table(
        "vector_retirements",
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("collection", sa.String(64), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint(
            "namespace", "collection", "version_id", name="pk_vector_retirements"
        ),
    )
