"""Jobs name the packs that must run them, and know whether a broker was told of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("packs", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column(
        "jobs", sa.Column("dispatched_at", sa.Float(), nullable=False, server_default="0")
    )
