"""Knowledge bases can be renamed and described; the same content is found again."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("kbs", sa.Column("seed", sa.String(64), nullable=False, server_default=""))
    op.add_column("kbs", sa.Column("description", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE kbs SET seed = name")
    op.create_index("ix_versions_content_hash", "versions", ["content_hash"])
