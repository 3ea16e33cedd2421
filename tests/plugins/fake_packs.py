"""Packs for tests, written to folders the way installers write them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent

MANIFEST = """\
schema = 1
[pack]
namespace = "{namespace}"
title = "A pack for tests"
api = "{api}"
{pack}
{more}
"""

#: A pack with one tool and one enricher.
CODE = """\
from typing import Annotated
from pydantic import Field
from typing_extensions import TypedDict
from eagle_rag_core.plugins import hookimpl, register_mcp_tool
from eagle_rag_core.types import Enrichment

NAMESPACE = "{namespace}"


class Found(TypedDict):
    name: str


class Tagger:
    name = "{namespace}_tagger"
    version = "1"

    def enrich(self, item):
        return Enrichment()


class Pack:
    @hookimpl
    def register_tools(self, ctx):
        @register_mcp_tool(namespace=NAMESPACE, name="query_things", description="Finds things.")
        def query_things(
            query: Annotated[str, Field(description="What to find.")],
        ) -> list[Found]:
            return [Found(name=query)]

        return [query_things]

    @hookimpl
    def register_enrichers(self, ctx):
        return [Tagger()]


pack = Pack()
"""

#: What :data:`CODE` declares.
DECLARED = '[[tools]]\nname = "query_things"\neffect = "read"\nsummary = "Finds things."\n'


def manifest(namespace: str, *, api: str = ">=1.0,<2", pack: str = "", more: str = DECLARED) -> str:
    """Text of an ``eagle-pack.toml``."""
    return MANIFEST.format(namespace=namespace, api=api, pack=pack, more=more)


def code(namespace: str) -> str:
    return CODE.replace("{namespace}", namespace)


def write_distribution(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    entry_points: str | bytes | None = None,
    requires: Iterable[str] = (),
    metadata: bool = True,
) -> Path:
    """Write a ``.dist-info`` folder as an installer does."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    if metadata:
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n", "utf-8")
    if entry_points is not None:
        raw = entry_points.encode() if isinstance(entry_points, str) else entry_points
        (info / "entry_points.txt").write_bytes(raw)
    return info


def write_pack(
    folder: Path,
    namespace: str,
    *,
    distribution: str = "",
    version: str = "1.0",
    package: str = "",
    body: str | None = None,
    text: str | None = None,
    requires: Iterable[str] = (),
    entry: str = "",
) -> str:
    """Write an installed pack: metadata, package and manifest.

    :param body: source of the package's ``__init__``, by default :data:`CODE`.
    :param text: the manifest; "" for none.
    :returns: name of the package.
    """
    package = package or f"{namespace.replace('-', '_')}_pack"
    entry = entry or f"{namespace} = {package}:pack"
    write_distribution(
        folder,
        distribution or f"eagle-rag-{namespace.replace('_', '-')}",
        version,
        entry_points=f"[eagle_rag.packs]\n{entry}\n",
        requires=requires,
    )
    home = folder / package
    home.mkdir(exist_ok=True)
    (home / "__init__.py").write_text(code(namespace) if body is None else dedent(body), "utf-8")
    text = manifest(namespace) if text is None else text
    if text:
        (home / "eagle-pack.toml").write_text(text, "utf-8")
    return package


def run_python(
    source: str, *, path: Iterable[Path] = (), environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter with ``path`` in front of its path."""
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, [*path, root])),
        **(environ or {}),
    }
    return subprocess.run(
        [sys.executable, "-c", dedent(source)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
