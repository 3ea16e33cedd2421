"""Taking in documents over HTTP: named sources, and files that are sent along."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from rest_client import OTTERS, RestClient, problem

from eagle_rag_core.catalog.versions import hold_originals
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import Caller, JobStatus


def documents(rest: RestClient) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = rest.get("/documents").json()["items"]
    return items


def originals(rest: RestClient) -> list[str]:
    """Names of the stored originals."""
    folder = rest.app.settings.home / "blobs"
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_an_uploaded_file_becomes_a_document(rest: RestClient) -> None:
    response = rest.upload(
        "otters.md",
        OTTERS,
        kb_name="biology",
        title="Sea otters",
        source_type="paper",
        tags=["mammals", "sea"],
        metadata='{"year": "2024"}',
    )
    assert response.status_code == 202
    job = response.json()
    assert set(job) == {"job_id", "status", "document_id", "dedup_hit"}
    assert response.headers["location"] == f"/jobs/{job['job_id']}"
    assert rest.finish(job["job_id"])["status"] == "succeeded"
    found = rest.get(f"/documents/{job['document_id']}").json()
    assert found["source_uri"] == "upload:otters.md"
    assert (found["kb_name"], found["title"], found["source_type"]) == (
        "biology",
        "Sea otters",
        "paper",
    )
    assert found["tags"] == ["mammals", "sea"]
    assert found["metadata"]["year"] == "2024"
    (hit,) = rest.post("/search", {"query": "urchins", "kb_name": "biology"}).json()["items"]
    assert hit["metadata"]["document_id"] == job["document_id"]


def test_the_same_name_replaces_the_document_and_the_same_content_changes_nothing(
    rest: RestClient,
) -> None:
    document_id = rest.ingest("otters.md", OTTERS)
    again = rest.upload("otters.md", OTTERS)
    assert (again.status_code, again.json()["dedup_hit"]) == (200, True)
    assert again.json()["status"] == "succeeded"
    assert rest.ingest("otters.md", b"# Otters\n\nRiver otters eat fish.\n") == document_id
    assert [item["document_id"] for item in documents(rest)] == [document_id]
    assert rest.post("/search", {"query": "urchins"}).json()["items"] == []
    assert len(originals(rest)) == 1, "the earlier original is gone"


def test_the_same_name_elsewhere_is_another_document(rest: RestClient) -> None:
    first = rest.ingest("otters.md", OTTERS, kb_name="one")
    second = rest.ingest("otters.md", OTTERS, kb_name="two")
    assert first != second
    assert len(originals(rest)) == 1, "one content is stored once"


NAMES = {
    "emoji": ("🦦 otters 🦦.md", "🦦 otters 🦦.md"),
    "longest": ("o" * 252 + ".md", "o" * 252 + ".md"),
    "decomposed": (unicodedata.normalize("NFD", "Fischötter.md"), "Fischötter.md"),
    "folders": ("../../etc/otters.md", "otters.md"),
    "windows": ("C:\\Users\\me\\otters.md", "otters.md"),
    "percent": ("100%2F.md", "100%2F.md"),
    "question": ("otters?#.md", "otters?#.md"),
    "cjk": ("水獭.md", "水獭.md"),
    "dots": ("..otters.md", "..otters.md"),
}


@pytest.mark.parametrize("case", NAMES.values(), ids=NAMES)
def test_a_name_is_a_name_and_no_path(shared: RestClient, case: tuple[str, str]) -> None:
    sent, kept = case
    document_id = shared.ingest(sent, b"# No title of its own is needed\n\nText of otters.\n")
    response = shared.get(f"/documents/{document_id}/file")
    disposition = response.headers["content-disposition"]
    assert unquote(disposition.partition("filename*=UTF-8''")[2]) == kept
    assert shared.get(f"/documents/{document_id}").json()["source_uri"] == "upload:" + quote(
        kept, safe=""
    )
    outside = {path.name for path in shared.app.settings.home.parent.iterdir()}
    assert outside == {"home"}


def test_composed_and_decomposed_names_are_one_document(shared: RestClient) -> None:
    names = [unicodedata.normalize(form, "Fischötter.md") for form in ("NFC", "NFD")]
    assert len({shared.ingest(name, OTTERS) for name in names}) == 1


@pytest.mark.parametrize("name", ["..", ".", "a/", " ", "x" * 256, "ä" * 128], ids=repr)
def test_what_no_file_is_called_is_refused(shared: RestClient, name: str) -> None:
    before = originals(shared)
    response = shared.upload(name, b"# Another\n\nContent.")
    assert response.status_code in (400, 422), response.text
    assert originals(shared) == before


REFUSED: dict[str, tuple[str, bytes, int, str]] = {
    "empty": ("empty.md", b"", 422, "empty_document"),
    "too-large": ("large.md", b"x" * 3000, 413, "source_too_large"),
    "unknown-format": ("tool.exe", b"MZ" + bytes(range(256)) * 4, 415, "unsupported_format"),
}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestClient]:
    """An app that takes small files only."""
    client = RestClient(tmp_path_factory.mktemp("narrow"), {"ingest": {"max_bytes": 2000}})
    yield client
    client.close()


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_become_a_document_is_refused_in_the_call(
    narrow: RestClient, case: tuple[str, bytes, int, str]
) -> None:
    name, content, status, code = case
    problem(narrow.upload(name, content), status, code)
    verdict = narrow.upload(name, content, path="/ingest/validate")
    assert (verdict.status_code, verdict.json()["outcome"]) == (200, "refused")
    assert verdict.json()["code"] == code and verdict.json()["detail"]
    assert originals(narrow) == [] and narrow.get("/jobs").json()["items"] == []


def test_an_endless_upload_is_cut_off(narrow: RestClient) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
        while sent < 100_000_000:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    headers = {"content-type": "multipart/form-data; boundary=b"}
    response = narrow.request("POST", "/ingest", content=endless(), headers=headers)
    problem(response, 413, "request_too_large")
    assert sent < 40_000_000


PART = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
END = b"--b--\r\n"
FILE = PART % (b"file", b'; filename="a.md"', b"# A\n\ntext")
BAD_FORMS: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 400),
    "no-end": (FILE, 400),
    "no-parts": (END, 400),
    "garbage": (b"\x00\xff" * 500, 400),
    "no-file": (PART % (b"title", b"", b"x") + END, 400),
    "file-as-text": (PART % (b"file", b"", b"x") + END, 400),
    "two-files": (FILE + FILE + END, 400),
    "other-name": (PART % (b"document", b'; filename="a.md"', b"x") + END, 400),
    "unknown-field": (FILE + PART % (b"titel", b"", b"x") + END, 422),
    "field-twice": (FILE + PART % (b"title", b"", b"x") * 2 + END, 400),
    "large-field": (FILE + PART % (b"title", b"", b"x" * 100_000) + END, 400),
    "many-fields": (FILE + PART % (b"tags", b"", b"x") * 100 + END, 400),
    "long-title": (FILE + PART % (b"title", b"", b"x" * 501) + END, 422),
    "metadata-no-json": (FILE + PART % (b"metadata", b"", b"{") + END, 400),
    "metadata-no-object": (FILE + PART % (b"metadata", b"", b"[1]") + END, 422),
    "metadata-number": (FILE + PART % (b"metadata", b"", b'{"year": 2024}') + END, 422),
    "metadata-deep": (FILE + PART % (b"metadata", b"", b"[" * 30_000) + END, 400),
    "control-in-name": (PART % (b"file", b'; filename="a\x01.md"', b"# A\n\nb") + END, 422),
    "bad-utf-8-name": (PART % (b"file", b'; filename="\xff\x80.md"', b"# A\n\nb") + END, 422),
    "control-in-title": (FILE + PART % (b"title", b"", b"a\x1b[2Jb") + END, 422),
    "large-header": (
        b"--b\r\nContent-Disposition: form-data; " + b"x" * 300_000 + b"\r\n\r\n\r\n" + END,
        400,
    ),
}


@pytest.mark.parametrize("case", BAD_FORMS.values(), ids=BAD_FORMS)
def test_a_bad_form_is_refused(shared: RestClient, case: tuple[bytes, int]) -> None:
    content, status = case
    before = originals(shared)
    headers = {"content-type": "multipart/form-data; boundary=b"}
    response = shared.request("POST", "/ingest", content=content, headers=headers)
    codes = {400: {"malformed_request"}, 422: {"invalid_argument", "unknown_argument"}}
    assert response.status_code == status, response.text
    assert response.json()["code"] in codes[status]
    assert originals(shared) == before


@pytest.mark.parametrize("boundary", ["", "; boundary=", "; boundary=" + "x" * 5000, "; bound=b"])
def test_a_bad_boundary_is_refused(shared: RestClient, boundary: str) -> None:
    headers = {"content-type": f"multipart/form-data{boundary}"}
    response = shared.request("POST", "/ingest", content=FILE + END, headers=headers)
    problem(response, 400, "malformed_request")


def test_other_types_are_refused(shared: RestClient) -> None:
    for declared in ("text/plain", "application/octet-stream", ""):
        response = shared.request(
            "POST", "/ingest", content=OTTERS, headers={"content-type": declared}
        )
        problem(response, 415, "unsupported_media_type")


def inbox(rest: RestClient) -> Path:
    rest.app.engine()
    return rest.app.settings.allowed_roots[0]


def test_a_file_in_an_allowed_folder_is_named_without_its_folder(rest: RestClient) -> None:
    (inbox(rest) / "otters.md").write_bytes(OTTERS)
    response = rest.post("/ingest", {"source_uri": "otters.md", "tags": ["a"]})
    assert response.status_code == 202
    job = rest.finish(response.json()["job_id"])
    assert (job["status"], job["source_uri"]) == ("succeeded", "otters.md")
    home = str(rest.app.settings.home)
    for path in ("/jobs", "/documents", f"/documents/{job['document_id']}", "/health"):
        assert home not in rest.get(path).text


@pytest.mark.parametrize(
    ("source", "status", "code"),
    [
        ("/etc/passwd", 403, "path_not_allowed"),
        ("../../secret.md", 403, "path_not_allowed"),
        ("missing.md", 404, "source_not_found"),
        ("http://169.254.169.254/latest/meta-data", 403, "url_not_allowed"),
        ("ftp://example.org/a.md", 422, "invalid_argument"),
        ("upload:otters.md", 422, "invalid_argument"),
    ],
)
def test_a_source_that_is_not_allowed_is_refused(
    shared: RestClient, source: str, status: int, code: str
) -> None:
    problem(shared.post("/ingest", {"source_uri": source}), status, code)
    verdict = shared.post("/ingest/validate", {"source_uri": source})
    assert (verdict.json()["outcome"], verdict.json()["code"]) == ("refused", code)


def test_validation_tells_what_would_happen_and_does_nothing(rest: RestClient) -> None:
    def verdict(content: bytes, name: str = "otters.md", **fields: Any) -> dict[str, Any]:
        found: dict[str, Any] = rest.upload(name, content, path="/ingest/validate", **fields).json()
        return found

    assert verdict(OTTERS)["outcome"] == "new"
    assert verdict(OTTERS, kb_name="biology")["kb_name"] == "biology"
    assert originals(rest) == []
    assert rest.get("/kbs").json()["items"] == [] and rest.get("/jobs").json()["items"] == []
    document_id = rest.ingest("otters.md", OTTERS)
    assert verdict(OTTERS) == {
        "outcome": "unchanged",
        "document_id": document_id,
        "kb_name": "default",
        "source_uri": "upload:otters.md",
        "code": "",
        "detail": "",
    }
    assert verdict(b"# Other\n\nText.")["outcome"] == "replace"
    assert verdict(OTTERS, title="Another title")["outcome"] == "replace"
    web = {"source_uri": "https://93.184.216.34/otters.pdf"}
    assert rest.post("/ingest/validate", web).json()["outcome"] == "new"
    assert len(documents(rest)) == 1 and len(originals(rest)) == 1


def test_a_read_only_deployment_takes_nothing(tmp_path: Path) -> None:
    client = RestClient(tmp_path / "home", {"mcp": {"read_only": True}})
    some = "0" * 32
    answers = [
        client.upload("a.md", OTTERS),
        client.post("/ingest", {"source_uri": "a.md"}),
        client.post(f"/jobs/{some}/cancel"),
        client.post(f"/jobs/{some}/retry"),
        client.patch(f"/documents/{some}", {"title": "x"}),
        client.delete(f"/documents/{some}"),
        client.post("/kbs", {"name": "new"}),
        client.patch("/kbs/new", {"title": "x"}),
        client.delete("/kbs/new"),
    ]
    for answer in answers:
        assert "read-only" in problem(answer, 403, "forbidden")["detail"]
    assert originals(client) == [] and client.get("/kbs").json()["items"] == []
    assert client.post("/search", {"query": "x"}).status_code == 200
    client.close()


def test_every_writing_route_is_one_that_a_read_only_deployment_refuses(
    shared: RestClient,
) -> None:
    reading = {"/search", "/search/visual", "/query", "/query/stream", "/ingest/validate"}
    writing = {
        (method, route.path)
        for route in shared.api.routes
        for method in getattr(route, "methods", None) or ()
        if method in ("POST", "PUT", "PATCH", "DELETE") and hasattr(route, "dependant")
        if route.path not in reading
    }
    guarded = {
        (method, route.path)
        for route in shared.api.routes
        if hasattr(route, "dependant")
        for method in route.methods
        if any(d.dependency.__name__ == "check_writable" for d in route.dependencies)
    }
    assert writing == guarded


def test_a_later_upload_wins_over_one_that_waits(tmp_path: Path) -> None:
    client = RestClient(tmp_path / "home", {"ingest": {"embedded_worker": False}})
    first = client.upload("otters.md", b"# First\n\nold words").json()
    second = client.upload("otters.md", b"# Second\n\nnew words").json()
    assert client.get(f"/jobs/{first['job_id']}").json()["status"] == "cancelled"
    assert client.finish(second["job_id"])["status"] == "succeeded"
    assert [item["title"] for item in documents(client)] == ["Second"]
    client.close()


def test_an_upload_outlives_the_last_document_of_its_content(tmp_path: Path) -> None:
    client = RestClient(tmp_path / "home", {"ingest": {"embedded_worker": False}})
    job = client.upload("first.md", OTTERS).json()
    client.finish(job["job_id"])
    client.app.engine().worker.close()
    waiting = client.upload("second.md", OTTERS).json()
    assert client.get(f"/jobs/{waiting['job_id']}").json()["status"] == "queued"
    assert client.delete(f"/documents/{job['document_id']}").status_code == 204
    assert len(originals(client)) == 1
    client.close()

    again = RestClient(tmp_path / "home")
    assert again.finish(waiting["job_id"])["status"] == "succeeded"
    again.close()


def test_an_original_that_is_removed_in_between_is_kept_again(
    rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last document of the content is deleted after the upload is stored, before its job is."""
    keep_file, removed = Originals.keep_file, []

    def keep_and_lose(self: Originals, content_hash: str, file: Any) -> None:
        keep_file(self, content_hash, file)
        if not removed:
            removed.append(content_hash)
            self.discard([content_hash])

    monkeypatch.setattr(Originals, "keep_file", keep_and_lose)
    rest.ingest("otters.md", OTTERS)
    assert removed == originals(rest)


def test_pending_uploads_are_no_orphans(tmp_path: Path) -> None:
    client = RestClient(tmp_path / "home", {"ingest": {"embedded_worker": False}})
    client.upload("otters.md", OTTERS)
    (name,) = originals(client)
    engine = client.app.engine()
    engine.services.files._originals.discard([name])
    assert originals(client) == [name]
    with engine.catalog.write() as tx:
        hold_originals(tx, [name])
    jobs = engine.services.jobs.list(Caller("test"), statuses=[JobStatus.QUEUED])
    assert len(jobs) == 1
    engine.services.jobs.cancel(Caller("test"), jobs[0].job_id)
    engine.services.files._originals.discard([name])
    assert originals(client) == []
    client.close()


def test_what_is_said_in_json_is_kept(rest: RestClient) -> None:
    (inbox(rest) / "otters.md").write_bytes(OTTERS)
    said = {
        "source_uri": "otters.md",
        "kb_name": "biology",
        "title": "Otters!",
        "tags": ["a"],
        "metadata": {"year": "2024"},
        "source_type": "paper",
    }
    job = rest.post("/ingest", said).json()
    rest.finish(job["job_id"])
    found = rest.get(f"/documents/{job['document_id']}").json()
    assert {key: found[key] for key in ("kb_name", "title", "tags", "source_type")} == {
        key: said[key] for key in ("kb_name", "title", "tags", "source_type")
    }
    assert json.loads(json.dumps(found["metadata"])) == {"year": "2024"}
