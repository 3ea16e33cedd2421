"""Packs for the tests of whole processes, installed in a folder of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plugins.fake_packs import manifest, write_pack

_BODY = """\
from typing import Annotated
from pydantic import Field
from typing_extensions import TypedDict
from eagle_rag_core.plugins import hookimpl, register_mcp_tool
from eagle_rag_core.types import Enrichment

{at_import}


class Found(TypedDict):
    name: str


class Tagger:
    name = "tagger"
    version = "1"

    def enrich(self, item):
        {in_enricher}
        return Enrichment(chunk_terms={{chunk.node_id: {terms!r} for chunk in item.chunks}})


class Pack:
    @hookimpl
    def register_tools(self, ctx):
        {in_hook}

        @register_mcp_tool(
            namespace={namespace!r}, name="query_things", description="Finds things."
        )
        def query_things(
            query: Annotated[str, Field(description="What to find.")],
        ) -> list[Found]:
            {in_tool}
            return [Found(name=query)]

        return [query_things]

    @hookimpl
    def register_enrichers(self, ctx):
        return [Tagger()]


pack = Pack()
"""


def install_pack(
    site: Path,
    namespace: str,
    *,
    at_import: str = "",
    in_hook: str = "pass",
    in_tool: str = "pass",
    in_enricher: str = "pass",
    terms: Sequence[str] = (),
    body: str | None = None,
    text: str | None = None,
    distribution: str = "",
    package: str = "",
) -> str:
    """Install a pack with one tool, ``<namespace>_query_things``, and one enricher.

    :param at_import: statements of the module; ``in_hook``, ``in_tool`` and ``in_enricher`` are
        one statement each that runs there.
    :param terms: what the enricher adds to the lexical index for every passage.
    :param body: the whole module instead.
    :param text: the manifest instead of the right one.
    :returns: name of the pack's package.
    """
    site.mkdir(parents=True, exist_ok=True)
    module = _BODY.format(
        namespace=namespace,
        at_import=at_import,
        in_hook=in_hook,
        in_tool=in_tool,
        in_enricher=in_enricher,
        terms=list(terms),
    )
    return write_pack(
        site,
        namespace,
        body=module if body is None else body,
        text=manifest(namespace) if text is None else text,
        distribution=distribution,
        package=package,
    )
