"""Knowledge bases are renamed, described and deleted in steps; documents can be made anew."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("kbs", sa.Column("seed", sa.String(64), nullable=False, server_default=""))
    op.add_column("kbs", sa.Column("description", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "kbs", sa.Column("deleted", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE kbs SET seed = name")
    op.create_index("ix_kbs_namespace_seed", "kbs", ["namespace", "seed"], unique=True)
    op.add_column("documents", sa.Column("given", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column(
        "vector_collections",
        sa.Column("replaced_at", sa.Float(), nullable=False, server_default="0"),
    )
    op.create_index("ix_versions_content_hash", "versions", ["content_hash"])
