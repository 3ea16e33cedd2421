"""The PDF that shows the pages of a version whose original has none."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "versions", sa.Column("rendition", sa.String(64), nullable=False, server_default="")
    )
    op.create_index("ix_versions_rendition", "versions", ["rendition"])
