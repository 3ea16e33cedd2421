"""``eagle-rag tools``: what clients get, without a client."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.types import COMMAND_LINE

if TYPE_CHECKING:
    from eagle_rag_core.calls.outcome import CallOutcome

Schema = Mapping[str, Any]
#: How the call log names this face.
_FACE: Final = "cli"
_TRUTH: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@click.group()
def tools() -> None:
    """List and call the tools of this deployment, as its clients get them."""


@tools.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True, help="With descriptions and parameters, as JSON.")
def list_(start: Start, as_json: bool) -> None:
    """List the exposed tools with their parameters; optional ones stand in brackets."""
    with start.app() as app:
        found = app.tool_definitions()
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for tool in found:
        click.secho(tool["name"], bold=True, nl=False)
        click.echo(f" {_parameters(tool['parameters'])}".rstrip())
        click.echo(f"    {tool['description'].partition('. ')[0].rstrip('.')}.")


@tools.command()
@click.argument("tool", metavar="NAME")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
@click.option("--json", "as_json", is_flag=True, help="The result as the tool gives it.")
def call(start: Start, tool: str, arguments: Sequence[str], as_json: bool) -> None:
    """Call tool NAME in this process; exits with 1 when it answers with an error.

    Values are read as the tool's parameters want them: numbers, true or false, lists as JSON or
    with commas, objects as JSON. Jobs that a call queues are run by a server or a worker.
    """
    given = _pairs(arguments)
    with start.app() as app:
        spec = app.pipeline.tools.get(tool)
        known: Schema = spec.input_schema["properties"] if spec is not None else {}
        values = {key: coerced(text, known.get(key, {})) for key, text in given.items()}
        outcome = asyncio.run(app.pipeline.call(tool, values, caller=COMMAND_LINE, face=_FACE))
    _print(outcome, as_json=as_json)
    if outcome.is_error:
        sys.exit(1)


def coerced(text: str, schema: Schema) -> Any:
    """What a word of the command line means for a parameter.

    What does not fit stays text: the tool says what it wants instead.
    """
    kind = schema.get("type", "string")
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return _TRUTH.get(text.lower(), text)
            case "object":
                return json.loads(text)
            case "array":
                return _list(text, schema.get("items", {}))
    except ValueError:
        return text
    return text


def _list(text: str, item: Schema) -> Any:
    if text.lstrip().startswith(("[", "{")) or item.get("type") == "object":
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    return [coerced(part.strip(), item) for part in text.split(",") if part.strip()]


def _pairs(arguments: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for argument in arguments:
        key, equals, text = argument.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{argument!r} is no KEY=VALUE.")
        if key in given:
            raise click.UsageError(f"{key!r} is given twice; lists have commas: {key}=a,b.")
        given[key] = text
    return given


def _parameters(schema: Schema) -> str:
    required = schema.get("required", ())
    names = [name if name in required else f"[{name}]" for name in schema["properties"]]
    return " ".join(names)


def _print(outcome: CallOutcome, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(outcome.payload, ensure_ascii=False, indent=2))
    elif outcome.is_error:
        click.echo(f"Error [{outcome.code}]: {outcome.error['error']}", err=True)
    else:
        import yaml

        text = yaml.safe_dump(outcome.payload, allow_unicode=True, sort_keys=False, width=100)
        click.echo(text, nl=False)
