"""Original files over HTTP: the bytes as they were, and nothing that a browser would run."""

from __future__ import annotations

import pytest
from rest_client import OTTERS, RestClient, problem

from eagle_rag_core.api.rest.files import headers_of, type_of
from eagle_rag_core.service.files import DocumentFile

SCRIPT = (
    b"<html><body><h1>Otters</h1><p>They eat urchins.</p><script>alert(1)</script></body></html>"
)


def test_the_bytes_are_those_that_were_taken_in(shared: RestClient) -> None:
    content = b"# Otters\r\n\r\n" + "Fischötter mögen Fisch.\r\n".encode("latin-1") * 1_000
    document_id = shared.ingest("latin.md", content)
    response = shared.get(f"/documents/{document_id}/file")
    assert response.content == content
    assert int(response.headers["content-length"]) == len(content)
    assert "charset" not in response.headers["content-type"], "nobody knows"


def test_an_unchanged_file_is_not_sent_again(shared: RestClient) -> None:
    document_id = shared.ingest("otters.md", OTTERS)
    path = f"/documents/{document_id}/file"
    etag = shared.get(path).headers["etag"]
    same = shared.get(path, headers={"if-none-match": f'"other", {etag}'})
    assert (same.status_code, same.content) == (304, b"")
    assert shared.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_a_page_with_scripts_is_an_attachment(shared: RestClient) -> None:
    document_id = shared.ingest("page.html", SCRIPT)
    response = shared.get(f"/documents/{document_id}/file")
    assert response.content == SCRIPT
    assert response.headers["content-disposition"].startswith("attachment; ")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("sandbox;")


def file(name: str = "a.pdf", media_type: str = "application/pdf") -> DocumentFile:
    return DocumentFile(name, media_type, 3, "0" * 64)


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("application/pdf", "inline"),
        ("text/plain", "inline"),
        ("image/png", "inline"),
        ("text/html", "attachment"),
        ("application/xhtml+xml", "attachment"),
        ("image/svg+xml", "attachment"),
        ("text/xml", "attachment"),
        ("application/javascript", "attachment"),
        ("text/markdown", "attachment"),
        ("", "attachment"),
    ],
)
def test_only_what_runs_nothing_is_shown_in_place(media_type: str, kind: str) -> None:
    headers = headers_of(file(media_type=media_type))
    assert headers["Content-Disposition"].startswith(f"{kind}; ")
    assert headers["Content-Security-Policy"].startswith("sandbox;")
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "media_type", ["", "text/html\r\nX-Evil: 1", "text", "a/b; c=d", "TEXT/html", "ü/ü", "a" * 9]
)
def test_what_is_no_type_is_sent_as_bytes(media_type: str) -> None:
    assert type_of(file(media_type=media_type)) == "application/octet-stream"


@pytest.mark.parametrize(
    "name",
    [
        'a".html',
        "a\r\nSet-Cookie: x=1.md",
        "a;b.md",
        "ä🦦.md",
        "\ud800.md",
        "a\\b.md",
        "%22.md",
        "",
    ],
    ids=repr,
)
def test_a_name_stays_inside_its_header(name: str) -> None:
    disposition = headers_of(file(name=name))["Content-Disposition"]
    disposition.encode("ascii")
    assert disposition.count('"') == 2 and disposition.count(";") == 2
    assert "\r" not in disposition and "\n" not in disposition and "\\" not in disposition


def test_a_lost_original_is_told(shared: RestClient) -> None:
    document_id = shared.ingest("lost.md", b"# Lost\n\nSoon gone.")
    content_hash = shared.get(f"/documents/{document_id}").json()["content_hash"]
    (stored,) = (shared.app.settings.home / "blobs").rglob(content_hash)
    stored.unlink()
    problem(shared.get(f"/documents/{document_id}/file"), 404, "source_not_found")
