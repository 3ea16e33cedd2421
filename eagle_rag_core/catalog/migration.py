"""Bringing a database to the schema of this version, with alembic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, inspect, select, table, text

from eagle_rag_core.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

#: The newest file below ``migrations/versions``. Kept here, because reading the stored revision
#: and comparing takes microseconds and importing alembic a second.
HEAD_REVISION = "0007"

_SCRIPTS = Path(__file__).parent / "migrations"
_version = table("alembic_version", column("version_num"))
#: Any constant: names the lock under which one process migrates a PostgreSQL database.
_MIGRATION_LOCK = 0x6561676C65


def stored_revision(connection: Connection) -> str | None:
    """The schema revision of the database; None when it is new."""
    if not inspect(connection).has_table(_version.name):
        return None
    revision: str | None = connection.scalar(select(_version.c.version_num))
    return revision


def known_revisions() -> frozenset[str]:
    """All schema revisions that this version can bring up to date."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return frozenset(script.revision for script in scripts)


def upgrade(tx: Connection, to: str = "head") -> None:
    """Run the missing migrations inside ``tx``: all of them or none.

    :param to: the last revision to run.
    :raises StorageError: the database was written by a newer version.
    """
    from alembic import command

    if tx.dialect.name == "postgresql":
        tx.execute(text("SET LOCAL lock_timeout = 0"))  # another one's migration may take long
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        if tx.scalar(text("SHOW server_encoding")) != "UTF8":
            raise StorageError(
                "The database of the catalog is not UTF-8; create it anew with ENCODING 'UTF8'.",
                retryable=False,
            )
    # Another process may have migrated while this one waited for its turn; then nothing is left.
    current = stored_revision(tx)
    if current is not None and current not in known_revisions():
        raise StorageError(
            "The catalog was written by a newer version of eagle-rag-core; upgrade this "
            "installation, or point the settings home or database.url at another catalog.",
            retryable=False,
        )
    config = _config()
    config.attributes["connection"] = tx
    command.upgrade(config, to)


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config
