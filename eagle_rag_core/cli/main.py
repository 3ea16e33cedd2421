"""The ``eagle-rag`` command. Every subcommand is imported when it runs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

import click

from eagle_rag_core import __version__
from eagle_rag_core.cli.lazy import LazyGroup

_COMMANDS = {
    "serve": ("eagle_rag_core.cli.serve", "serve", "Serve MCP and REST over HTTP."),
    "mcp": ("eagle_rag_core.cli.mcp", "mcp", "Serve MCP alone, or set up a client for it."),
    "ingest": ("eagle_rag_core.cli.ingest", "ingest", "Add files, folders and web pages."),
    "sources": ("eagle_rag_core.cli.sources", "sources", "Look after what is read again."),
    "search": ("eagle_rag_core.cli.search", "search", "Find passages."),
    "query": ("eagle_rag_core.cli.search", "query", "Answer a question with citations."),
    "jobs": ("eagle_rag_core.cli.jobs", "jobs", "Show ingest jobs."),
    "kb": ("eagle_rag_core.cli.kb", "kb", "Look after knowledge bases."),
    "documents": ("eagle_rag_core.cli.documents", "documents", "List and delete documents."),
    "reindex": ("eagle_rag_core.cli.reindex", "reindex", "Make outdated documents anew."),
    "tools": ("eagle_rag_core.cli.tools", "tools", "List and call the tools that clients get."),
    "profile": ("eagle_rag_core.cli.profile", "profile", "Show profiles and effective settings."),
    "doctor": ("eagle_rag_core.cli.doctor", "doctor", "Find and repair what is out of order."),
    "backup": ("eagle_rag_core.cli.backup", "backup", "Write everything into one archive."),
    "restore": ("eagle_rag_core.cli.backup", "restore", "Bring a backup into this deployment."),
    "vectors": ("eagle_rag_core.cli.vectors", "vectors", "Carry vectors between backends."),
    "eval": ("eagle_rag_core.cli.eval", "evaluate", "Measure retrieval on a test set."),
    "worker": ("eagle_rag_core.cli.worker", "worker", "Run ingest jobs, and nothing else."),
    "packs": ("eagle_rag_core.cli.packs", "packs", "Look after installed domain packs."),
}


@click.group(
    cls=LazyGroup, lazy=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="eagle-rag")
def cli() -> None:
    """Retrieval-augmented generation over MCP, with domain packs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of ours end it with one line and exit code 1."""
    from eagle_rag_core.errors import EagleError

    try:
        cli.main(args=list(arguments) if arguments is not None else None, prog_name="eagle-rag")
    except EagleError as error:
        click.echo(f"Error [{error.code}]: {error.message}", err=True)
        sys.exit(1)
    except Exception as error:
        logging.getLogger(__name__).debug("Unexpected failure", exc_info=error)
        click.echo(
            f"Error [internal]: {type(error).__name__}. Set EAGLE_RAG_TELEMETRY__LOG_LEVEL=debug "
            "to see where it comes from.",
            err=True,
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
