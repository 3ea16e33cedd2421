"""The demo: a real MCP client starts the server over stdio, ingests a corpus and asks.

    make demo

One library per profile: first the biomed pack with the general corpus, then the lakehouse pack.
Everything lands in ``.demo`` and needs no network.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".demo" / "home"
CORPUS = ROOT / "examples" / "corpus"
BIOMED = ROOT / "plugins" / "biomed" / "examples"
LAKEHOUSE = ROOT / "plugins" / "lakehouse_bi" / "examples"


def server(profile: str) -> StdioTransport:
    """A server process for one profile that may read the example folders."""
    return StdioTransport(
        command=sys.executable,
        args=["-m", "eagle_rag_core.api.mcp_server"],
        env={
            "EAGLE_RAG_HOME": str(HOME),
            "EAGLE_RAG_PROFILE": profile,
            "EAGLE_RAG_INGEST__ALLOWED_ROOTS": json.dumps(
                [str(folder) for folder in (CORPUS, BIOMED, LAKEHOUSE)]
            ),
            "EAGLE_RAG_TELEMETRY__LOG_LEVEL": "warning",
        },
    )


async def call(client: Client[Any], tool: str, **arguments: Any) -> Any:
    """Call a tool; an error of the tool ends the demo with its message."""
    result = await client.call_tool(tool, arguments)
    content = result.structured_content or {}
    return content.get("result", content)


async def ingest(client: Client[Any], files: Iterable[Path], kb_name: str) -> None:
    """Submit files and wait until every job is final."""
    for path in files:
        job = await call(client, "core_ingest", source_uri=str(path), kb_name=kb_name)
        state: Mapping[str, Any] = {"status": job["status"]}
        while state["status"] in ("queued", "running"):
            await asyncio.sleep(0.1)
            state = await call(client, "core_get_job", job_id=job["job_id"])
        note = "already indexed" if job["dedup_hit"] else state.get("error") or "ok"
        print(f"  {path.name:<28} {state['status']:<10} {note}")


async def show_evidence(client: Client[Any], query: str) -> None:
    hits = await call(client, "core_retrieve_text", query=query, top_k=3)
    print(f'\nEvidence for "{query}":')
    for hit in hits:
        meta = hit["metadata"]
        page = f", page {meta['page']}" if meta["page"] else ""
        name = meta["source_uri"].rpartition("/")[2]
        print(f"  {hit['score']:.3f}  {name}{page}  {meta['path']}")
        print(f"         {' '.join(hit['text'].split())[:150]}…")


async def show_answer(client: Client[Any], question: str) -> None:
    result = await call(client, "core_query", query=question)
    print(f"\nQ: {question}\nA: {result['answer']}")
    for source in result["sources"]:
        page = f", page {source['page']}" if source["page"] else ""
        print(f"   [{source['n']}] {source['title']}{page} · {source['path']}")


async def show_tools(client: Client[Any], profile: str) -> None:
    tools = await client.list_tools()
    print(f"\n=== Profile {profile}: {len(tools)} tools ===")
    for tool in tools:
        print(f"  {tool.name:<40} {(tool.description or '').split('. ')[0]}.")
    print()


async def biomed() -> None:
    async with Client(server("biomed")) as client:
        await show_tools(client, "biomed")
        await ingest(client, sorted(CORPUS.iterdir()), "handbook")
        await ingest(client, sorted(BIOMED.iterdir()), "cases")
        await show_evidence(client, "How do I descale the coffee machine?")
        await show_evidence(client, "How fast is the glacier thinning?")
        await show_answer(client, "How long are call recordings kept?")
        await show_answer(client, "When did the meltwater discharge peak?")
        entities = await call(client, "biomed_query_entities", query="heart attack")
        print("\nbiomed_query_entities('heart attack'):")
        print("  " + json.dumps(entities, ensure_ascii=False)[:600] + "…")


async def lakehouse() -> None:
    async with Client(server("lakehouse-bi")) as client:
        await show_tools(client, "lakehouse-bi")
        await ingest(client, sorted(LAKEHOUSE.iterdir()), "shop")
        question = "revenue per customer and month"
        context = await call(client, "lakehouse_bi_query_semantic_context", query=question)
        print(f"\nlakehouse_bi_query_semantic_context({question!r}):")
        print("  " + json.dumps(context, ensure_ascii=False)[:900] + "…")


def show_connection() -> None:
    command = ROOT / ".venv" / "bin" / "eagle-rag"
    config = {
        "mcpServers": {
            "eagle-rag": {
                "command": str(command),
                "args": ["mcp", "--stdio", "--profile", "biomed", "--home", str(HOME)],
            }
        }
    }
    print("\n=== Connect your own client ===")
    print("Claude Desktop, Cursor and others: add to their MCP configuration")
    print(json.dumps(config, indent=2))
    print(f"Over HTTP: {command} serve --profile biomed --home {HOME}")
    print("  then point the client at http://127.0.0.1:8001/mcp")


def main() -> None:
    shutil.rmtree(HOME, ignore_errors=True)
    asyncio.run(biomed())
    asyncio.run(lakehouse())
    show_connection()


if __name__ == "__main__":
    main()
