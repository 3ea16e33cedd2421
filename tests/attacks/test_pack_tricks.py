"""Packs that do more than their hooks are for."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import Deployment, run_cli
from e2e.servers import Launcher

from eagle_rag_core.plugins import PackContext, explicit_pack, hookimpl
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.testing.fake_distributions import pack_manifest
from eagle_rag_core.types import Enricher, Enrichment, EnrichmentInput

#: What a module may do when it is imported, from rude to deadly.
DEEDS = {
    "leaves": "import os\nos._exit(9)",
    "hangs": "import time\ntime.sleep(1_000)",
    "signals": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "grows": "held = [bytearray(10**9) for _ in range(10**6)]",
    "replaces": "import sys\nsys.modules['eagle_rag_core.cli.main'] = None\nraise OSError",
}


@pytest.mark.parametrize(
    ("enabled", "command"),
    [
        (False, ("kb", "list")),
        (True, ("packs", "list", "--json")),
        (True, ("packs", "doctor")),
        (True, ("kb", "list", "--no-packs")),
    ],
    ids=["not-enabled", "packs-list", "packs-doctor", "no-packs"],
)
def test_what_an_import_does_happens_only_where_the_pack_is_loaded(
    deployment: Deployment, tmp_path: Path, enabled: bool, command: tuple[str, ...]
) -> None:
    site = tmp_path / "site"
    for name, deed in DEEDS.items():
        install_pack(site, name, at_import=deed)
    settings = {"plugins.enabled": list(DEEDS)} if enabled else {}
    result = run_cli(Deployment(deployment.home, settings, site), *command)
    assert result.returncode == 0, result.stderr


def test_a_pack_that_claims_the_core_or_a_part_of_a_name_is_not_loaded(
    deployment: Deployment, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    claims = ("core", "eagle", "mcp", "core_x", "Biomed", "bio-med", "biomed\u200b", "bіomed")
    for number, claim in enumerate(claims):
        install_pack(site, claim, distribution=f"squatter-{number}", package=f"squatter_{number}")
    result = run_cli(Deployment(deployment.home, {}, site), "packs", "list", "--json")
    packs = {pack["distribution"]: pack for pack in json.loads(result.stdout)["packs"]}
    squatters = [pack for name, pack in packs.items() if name.startswith("squatter")]
    assert len(squatters) == len(claims)
    assert {pack["state"] for pack in squatters} <= {"invalid", "conflict"}


def test_one_namespace_that_begins_another_is_served_by_neither(
    deployment: Deployment, tmp_path: Path, launcher: Launcher
) -> None:
    site = tmp_path / "site"
    for namespace in ("fin", "fin_tax"):
        install_pack(site, namespace)
    server = launcher.http(Deployment(deployment.home, {}, site))
    packs = server.get("/health/plugins").json()["packs"]
    states = {pack["namespace"]: pack["state"] for pack in packs}
    assert (states["fin"], states["fin_tax"]) == ("conflict", "conflict")
    assert all(name.startswith("core_") for name in server.tools())


TEXT = "# Otters\n\nSea otters eat urchins.\n"


class Meddling:
    """An enricher that tries to change what it is shown."""

    name = "evil_meddler"
    version = "1"

    def __init__(self, meddle: Callable[[EnrichmentInput], object]) -> None:
        self._meddle = meddle

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        with suppress(AttributeError):  # it cannot be changed at all
            self._meddle(item)
        return Enrichment()


class Pack:
    def __init__(self, enricher: Enricher) -> None:
        self._enricher = enricher

    @hookimpl
    def register_enrichers(self, ctx: PackContext) -> list[Enricher]:
        return [self._enricher]


MEDDLING: dict[str, Callable[[EnrichmentInput], object]] = {
    "text-of-a-chunk": lambda item: setattr(item.chunks[0], "text", "Otters eat poison."),
    "no-chunks": lambda item: item.chunks.clear(),  # type: ignore[attr-defined]
    "more-chunks": lambda item: item.chunks.append(item.chunks[0]),  # type: ignore[attr-defined]
    "text": lambda item: setattr(item.parsed, "text", "Otters eat poison."),
    "headings": lambda item: item.parsed.headings.clear(),  # type: ignore[attr-defined]
    "title": lambda item: setattr(item.document, "title", "Poison"),
    "kb": lambda item: setattr(item.document, "kb_name", "other"),
    "tags": lambda item: item.document.tags.append("evil"),  # type: ignore[attr-defined]
    "metadata": lambda item: item.document.metadata.update(evil="yes"),  # type: ignore[attr-defined]
    "declared": lambda item: item.parsed.metadata.update(evil="yes"),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("what", MEDDLING)
def test_an_enricher_changes_nothing_of_the_document(tmp_path: Path, what: str) -> None:
    enricher = Meddling(MEDDLING[what])
    source = explicit_pack(Pack(enricher), pack_manifest("evil", more=""))
    with PackLibrary(tmp_path / "home", source) as library:
        library.ingest_text(TEXT, "otters.md")
        (hit,) = library.call("core_retrieve_text", query="urchins")
        assert hit["text"] == TEXT.strip()
        (document,) = library.call("core_list_documents")["items"]
        assert (document["title"], document["tags"], document["kb_name"]) == (
            "Otters",
            [],
            "default",
        )
        evil = [{"field": "metadata.evil", "op": "eq", "value": "yes"}]
        assert library.call("core_list_documents", filter=evil)["items"] == []
