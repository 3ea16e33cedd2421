"""The ``eagle-rag`` command. Every subcommand is imported when it runs."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence

import click

from eagle_rag_core import __version__

#: Command → (module, attribute, one line for --help). Static, so that help imports nothing.
_COMMANDS = {
    "serve": ("eagle_rag_core.cli.serve", "serve", "Serve MCP and REST over HTTP."),
    "mcp": ("eagle_rag_core.cli.serve", "mcp", "Serve MCP alone, over HTTP or stdio."),
    "ingest": ("eagle_rag_core.cli.ingest", "ingest", "Add files, folders and web pages."),
    "search": ("eagle_rag_core.cli.search", "search", "Find passages."),
    "query": ("eagle_rag_core.cli.search", "query", "Answer a question with citations."),
    "jobs": ("eagle_rag_core.cli.jobs", "jobs", "Show ingest jobs."),
    "kb": ("eagle_rag_core.cli.kb", "kb", "Look after knowledge bases."),
    "worker": ("eagle_rag_core.cli.worker", "worker", "Run ingest jobs, and nothing else."),
    "packs": ("eagle_rag_core.cli.packs", "packs", "Show installed domain packs."),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported on use, so that a broken one breaks only itself."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, _help = _COMMANDS[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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
