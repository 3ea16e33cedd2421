"""Tiles: the regions of pages that can be shown; and what stands on which page."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tiles",
        sa.Column("image_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("box", sa.String(32), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("section", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_source", sa.String(8), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.version_id"],
            name="fk_tiles_version_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("image_id", name="pk_tiles"),
    )
    op.create_index("ix_tiles_version_id_ordinal", "tiles", ["version_id", "ordinal"], unique=True)
    op.create_table(
        "pages",
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("lines", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.version_id"],
            name="fk_pages_version_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "page", name="pk_pages"),
    )
