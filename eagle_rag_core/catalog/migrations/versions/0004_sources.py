"""Sources that are read again: what they hold, how they are, and what web servers said."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("source_id", sa.String(32), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("kb_name", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("lease_owner", sa.String(64), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("error_code", sa.String(32), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.Column("ran_at", sa.String(27), nullable=False),
        sa.Column("succeeded_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("source_id", name="pk_sources"),
    )
    op.create_index("ix_sources_namespace", "sources", ["namespace"])
    op.create_table(
        "source_items",
        sa.Column("source_id", sa.String(32), nullable=False),
        sa.Column("item_id", sa.String(32), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("recipe", sa.String(32), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("seen", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["sources.source_id"],
            name="fk_source_items_source_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", "item_id", name="pk_source_items"),
    )
    op.create_index("ix_source_items_source_id_seen", "source_items", ["source_id", "seen"])
    op.create_index("ix_source_items_document_id", "source_items", ["document_id"])
    op.create_table(
        "fetch_validators",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("last_modified", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name="fk_fetch_validators_document_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name="pk_fetch_validators"),
    )
