"""Arguments with which every tool that a server lists can be called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.product import Deployment
from e2e.servers import HttpServer

#: What is passed where an argument that a tool requires is none of the known ones.
_ANY: Mapping[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": False}


@dataclass(frozen=True, slots=True)
class EveryTool:
    """Calls with the required arguments alone.

    :param values: of arguments, by name.
    """

    values: Mapping[str, str]

    @classmethod
    def on(cls, server: HttpServer, deployment: Deployment) -> EveryTool:
        """Calls about a document of its own, which the server gets."""
        source = str(deployment.inbox / "shells.md")
        Path(source).write_text("# Shells\n\nShells lie on beaches.\n")
        job = server.ingest(source)
        document = server.finish(job)["document_id"]
        outline = server.call("core_get_outline", document_id=document).payload
        return cls(
            {
                "query": "urchins",
                "source_uri": source,
                "job_id": job,
                "document_id": document,
                "section_id": _first_section(outline),
            }
        )

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """For a tool with this input schema."""
        return {
            name: self.values.get(name, _ANY.get(schema["properties"][name].get("type", "")))
            for name in schema.get("required", ())
        }


def _first_section(outline: Any) -> str:
    if isinstance(outline, dict):
        if isinstance(found := outline.get("section_id"), str) and found:
            return found
        outline = list(outline.values())
    parts = outline if isinstance(outline, list) else []
    return next(filter(None, map(_first_section, parts)), "")
