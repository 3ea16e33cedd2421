"""Run by alembic: migrates over the connection it is given, inside that transaction."""

from alembic import context

from eagle_rag_core.catalog.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most of a table; alembic copies it instead.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
