"""A document changes, comes again, or stands in two knowledge bases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from e2e import rows
from e2e.product import Deployment
from e2e.servers import Launcher, StdioServer


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> StdioServer:
    return shared_launcher.stdio(shared_deployment)


@pytest.fixture(autouse=True)
def sound(shared_deployment: Deployment) -> Iterator[None]:
    """No test leaves a row behind that nothing needs."""
    yield
    assert rows.leftovers(shared_deployment) == {}


def test_a_changed_file_replaces_its_text(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    path = shared_deployment.inbox / "policy.md"
    path.write_text("# Policy\n\nVisitors park in the meadow.\n")
    first = server.add(path)
    other = shared_deployment.inbox / "other.md"
    other.write_text("# Other\n\nThe kiosk opens at noon.\n")
    server.add(other)

    path.write_text("# Policy\n\nVisitors park behind the barn.\n")
    second = server.add(path)
    assert second["document_id"] == first["document_id"]
    assert second["dedup_hit"] is False
    assert server.search("meadow") == []
    assert server.search("barn") == ["# Policy\n\nVisitors park behind the barn."]
    assert server.search("kiosk") == ["# Other\n\nThe kiosk opens at noon."]
    stored = rows.document_text(shared_deployment, first["document_id"])
    assert "barn" in stored and "meadow" not in stored


def test_the_same_file_again_is_a_dedup_hit_in_the_call(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    path = shared_deployment.inbox / "same.md"
    path.write_text("# Same\n\nNothing new about wombats.\n")
    first = server.add(path)
    before = rows.content(shared_deployment)
    again = server.call("core_ingest", source_uri=str(path)).payload
    assert (again["status"], again["dedup_hit"]) == ("succeeded", True)
    assert again["document_id"] == first["document_id"]
    assert server.finish(again["job_id"])["dedup_hit"] is True
    assert rows.content(shared_deployment) == before
    assert len(server.search("wombats")) == 1


@pytest.mark.parametrize("spelling", ["name", "absolute", "dots", "uri"])
def test_every_spelling_of_a_path_is_the_same_document(
    server: StdioServer, shared_deployment: Deployment, spelling: str
) -> None:
    path = shared_deployment.inbox / "spelled name.md"
    path.write_text("# Spelled\n\nAbout axolotls.\n")
    spellings = {
        "name": "spelled name.md",
        "absolute": str(path),
        "dots": f"./x/../{path.name}",
        "uri": path.as_uri(),
    }
    server.add(path)
    again = server.call("core_ingest", source_uri=spellings[spelling]).payload
    assert again["dedup_hit"] is True
    assert len(server.search("axolotls")) == 1


def test_the_same_file_in_two_kbs_is_two_documents(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    path = shared_deployment.inbox / "shared.md"
    path.write_text("# Shared\n\nOn the habits of okapis.\n")
    first = server.add(path, kb_name="first")
    second = server.add(path, kb_name="second")
    assert first["document_id"] != second["document_id"]
    assert second["dedup_hit"] is False
    assert len(server.search("okapis")) == 2
    for kb in ("first", "second"):
        assert len(server.search("okapis", kb_name=kb)) == 1

    path.write_text("# Shared\n\nOn the habits of tapirs.\n")
    server.add(path, kb_name="first")
    assert len(server.search("okapis", kb_name="second")) == 1
    assert server.search("okapis", kb_name="first") == []


def test_equal_content_of_two_files_is_two_documents(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    ids = set()
    for name in ("copy-a.md", "copy-b.md"):
        path = shared_deployment.inbox / name
        path.write_text("# Copy\n\nAbout echidnas.\n")
        ids.add(server.add(path)["document_id"])
    assert len(ids) == 2
    assert len(server.search("echidnas")) == 2


def test_a_version_that_fails_leaves_the_one_before(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    path = shared_deployment.inbox / "fragile.md"
    path.write_text("# Fragile\n\nAbout narwhals.\n")
    server.add(path)
    path.write_bytes(bytes(range(256)) * 4)
    assert server.finish(server.ingest(path))["status"] == "failed"
    assert server.search("narwhals") == ["# Fragile\n\nAbout narwhals."]


def test_a_version_that_fails_does_not_hide_the_next(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    path = shared_deployment.inbox / "recovering.md"
    path.write_bytes(bytes(range(256)) * 4)
    assert server.finish(server.ingest(path))["status"] == "failed"
    path.write_text("# Recovering\n\nAbout manatees.\n")
    server.add(path)
    assert len(server.search("manatees")) == 1
