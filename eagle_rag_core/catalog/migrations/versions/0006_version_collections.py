"""Which further collections of vectors the rows of a document went to."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "version_collections",
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("namespace", sa.String(64), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("kb_seed", sa.String(64), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.version_id"],
            name="fk_version_collections_version_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "kind", name="pk_version_collections"),
    )
    op.create_index(
        "ix_version_collections_namespace_kind_kb_seed",
        "version_collections",
        ["namespace", "kind", "kb_seed"],
    )
    op.create_index(
        "ix_version_collections_namespace_kind_document_id",
        "version_collections",
        ["namespace", "kind", "document_id"],
    )
