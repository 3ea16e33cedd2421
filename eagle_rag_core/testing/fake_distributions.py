"""Packs for tests, written to folders the way installers write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from textwrap import dedent, indent
from typing import Final

_CODE: Final = Template("""\
from typing import Annotated
from pydantic import Field
from typing_extensions import TypedDict
from eagle_rag_core.plugins import hookimpl, register_mcp_tool
from eagle_rag_core.types import Enrichment

$at_import


class Found(TypedDict):
    name: str


class Tagger:
    name = "${namespace}_tagger"
    version = "1"

    def enrich(self, item):
$in_enricher
        return Enrichment(chunk_terms={chunk.node_id: $terms for chunk in item.chunks})


class Pack:
    @hookimpl
    def register_tools(self, ctx):
$in_hook

        @register_mcp_tool(
            namespace="$namespace", name="query_things", description="Finds things."
        )
        def query_things(
            query: Annotated[str, Field(description="What to find.")],
        ) -> list[Found]:
$in_tool
            return [Found(name=query)]

        return [query_things]

    @hookimpl
    def register_enrichers(self, ctx):
        return [Tagger()]


pack = Pack()
""")

_MANIFEST: Final = """\
schema = 1
[pack]
namespace = "{namespace}"
title = "A pack for tests"
api = "{api}"
{pack}
{more}
"""

#: What the code of :func:`pack_code` has to declare.
DECLARED: Final = '[[tools]]\nname = "query_things"\neffect = "read"\nsummary = "Finds things."\n'


def pack_code(
    namespace: str,
    *,
    at_import: str = "",
    in_hook: str = "pass",
    in_tool: str = "pass",
    in_enricher: str = "pass",
    terms: Sequence[str] = (),
) -> str:
    """Module of a pack with one tool, ``<namespace>_query_things``, and one enricher.

    :param at_import: statements of the module; ``in_hook`` (which has ``ctx``), ``in_tool``
        (which has ``query``) and ``in_enricher`` (which has ``item``) run there.
    :param terms: what the enricher adds to the lexical index for every passage.
    """
    return _CODE.substitute(
        namespace=namespace,
        at_import=at_import,
        in_hook=indent(in_hook, " " * 8),
        in_tool=indent(in_tool, " " * 12),
        in_enricher=indent(in_enricher, " " * 8),
        terms=list(terms),
    )


def pack_manifest(
    namespace: str, *, api: str = ">=1.0,<2", pack: str = "", more: str = DECLARED
) -> str:
    """Text of an ``eagle-pack.toml``.

    :param pack: further lines of its section ``[pack]``.
    :param more: the sections behind it.
    """
    return _MANIFEST.format(namespace=namespace, api=api, pack=pack, more=more)


def write_distribution(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    entry_points: str | bytes | None = None,
    requires: Iterable[str] = (),
    metadata: bool = True,
) -> Path:
    """Write a ``.dist-info`` folder.

    :param entry_points: content of ``entry_points.txt``; none is written without.
    :param requires: what the distribution depends on, as in ``Requires-Dist``.
    :param metadata: whether to write ``METADATA``, which a broken installation lacks.
    """
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
    code: str | None = None,
    manifest: str | None = None,
    requires: Iterable[str] = (),
    entry: str = "",
) -> str:
    """Write an installed pack: metadata, package and manifest.

    :param distribution: by default ``eagle-rag-<namespace>``.
    :param package: by default ``<namespace>_pack``.
    :param code: source of the package's ``__init__``, by default :func:`pack_code`.
    :param manifest: by default :func:`pack_manifest`; "" for none.
    :param entry: the entry point, by default ``<namespace> = <package>:pack``.
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
    code = pack_code(namespace) if code is None else dedent(code)
    manifest = pack_manifest(namespace) if manifest is None else manifest
    (home / "__init__.py").write_text(code, "utf-8")
    if manifest:
        (home / "eagle-pack.toml").write_text(manifest, "utf-8")
    return package
