"""Reading, describing and deleting documents and knowledge bases over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rest_client import OTTERS, RestClient, problem

from eagle_rag_core.catalog import kbs
from eagle_rag_core.types import LOCAL

MISSING = "0" * 32
EVERYTHING = "everything-0123456789-abcdef"
BOUNDED = "bounded-9876543210-fedcba-zyx"


@pytest.fixture(scope="module")
def otters(shared: RestClient) -> str:
    return shared.ingest("otters.md", OTTERS, kb_name="biology", tags=["mammals"])


def epoch(rest: RestClient, kb_name: str = "biology") -> int:
    catalog = rest.app.engine().catalog
    with catalog.read() as conn:
        return kbs.epochs(conn, catalog.namespace, LOCAL)[kb_name]


def test_a_document_is_described(shared: RestClient, otters: str) -> None:
    found = shared.get(f"/documents/{otters}").json()
    assert (found["document_id"], found["title"], found["kb_name"]) == (otters, "Otters", "biology")
    assert (found["size"], found["sections"], found["chunks"]) == (len(OTTERS), 4, 2)
    assert len(found["content_hash"]) == 64


def test_a_document_is_read_by_its_outline(shared: RestClient, otters: str) -> None:
    outline = shared.get(f"/documents/{otters}/outline").json()
    headings = {item["title"]: item["section_id"] for item in outline["items"]}
    assert list(headings) == ["Otters", "Diet", "Sleep"]
    section = shared.get(f"/documents/{otters}/sections/{headings['Sleep']}").json()
    assert (section["title"], section["level"]) == ("Sleep", 2)
    assert section["text"].endswith("They sleep in kelp.")
    whole = shared.get(f"/documents/{otters}/text").json()
    assert "urchins" in whole["text"] and section["text"] in whole["text"]
    assert shared.get(f"/documents/{otters}/outline?limit=1").json()["next_cursor"]


def test_a_long_text_comes_in_parts(shared: RestClient) -> None:
    words = " ".join(f"word{n}" for n in range(500))
    document_id = shared.ingest("long.md", f"# Long\n\n{words}\n".encode())
    text, cursor = "", ""
    for _ in range(50):
        part = shared.get(
            f"/documents/{document_id}/text", params={"max_chars": 1000, "cursor": cursor}
        ).json()
        text, cursor = text + part["text"], part["next_cursor"]
        if not cursor:
            break
    assert "word0 " in text and text.rstrip().endswith("word499")


def test_what_does_not_exist_is_not_found(shared: RestClient, otters: str) -> None:
    for path in ("", "/text", "/outline", "/file", "/sections/x"):
        for document_id in (MISSING, "x", "%00", "%F0%9F%A6%A6", otters.upper()):
            response = shared.get(f"/documents/{document_id}{path}")
            problem(response, 404, "document_not_found")
    problem(shared.get(f"/documents/{otters}/sections/{MISSING}"), 404, "section_not_found")
    problem(shared.delete(f"/documents/{MISSING}"), 404, "document_not_found")
    problem(shared.patch(f"/documents/{MISSING}", {"title": "x"}), 404, "document_not_found")
    for path in ("", "/events"):
        problem(shared.get(f"/jobs/{MISSING}{path}"), 404, "job_not_found")
    for action in ("cancel", "retry"):
        problem(shared.post(f"/jobs/{MISSING}/{action}"), 404, "job_not_found")


def test_documents_are_listed_by_page_and_filter(shared: RestClient, otters: str) -> None:
    for number in range(3):
        shared.ingest(f"paper{number}.md", f"# Paper {number}\n\nText.".encode(), kb_name="papers")
    seen: list[str] = []
    cursor = ""
    while True:
        page = shared.get(
            "/documents", params={"kb_name": "papers", "limit": 2, "cursor": cursor}
        ).json()
        seen += [item["title"] for item in page["items"]]
        if not (cursor := page["next_cursor"]):
            break
    assert seen == ["Paper 2", "Paper 1", "Paper 0"]
    found = shared.get("/documents?filter=tags:eq:mammals&filter=title:prefix:Ott").json()
    assert [item["document_id"] for item in found["items"]] == [otters]
    assert shared.get("/documents?filter=tags:eq:mammals&filter=title:eq:x").json()["items"] == []
    problem(shared.get("/documents?kb_name=nowhere"), 404, "kb_not_found")


def test_what_is_said_of_a_document_changes(rest: RestClient) -> None:
    document_id = rest.ingest(
        "otters.md",
        OTTERS,
        kb_name="biology",
        tags=["old"],
        metadata='{"year": "2024", "draft": "yes"}',
    )
    before = rest.get(f"/documents/{document_id}").json()
    epoch_before = epoch(rest)
    change = {"tags": [" new ", "new", "two"], "metadata": {"draft": None, "author": "Ada"}}
    after = rest.patch(f"/documents/{document_id}", change).json()
    assert after["tags"] == ["new", "two"]
    assert after["metadata"] == {"year": "2024", "author": "Ada"}
    assert after["title"] == before["title"], "what is left out stays"
    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]
    assert epoch(rest) > epoch_before
    for condition, found in (("tags:eq:old", 0), ("tags:eq:new", 1), ("metadata.author:eq:Ada", 1)):
        assert len(rest.get(f"/documents?filter={condition}").json()["items"]) == found
    assert rest.get("/jobs").json()["items"][0]["status"] == "succeeded", "no job was needed"
    assert rest.get("/tags").json()["items"] == [
        {"tag": "new", "documents": 1},
        {"tag": "two", "documents": 1},
    ]


def test_a_document_is_found_by_the_words_of_a_new_title(rest: RestClient) -> None:
    with_keywords = b"---\ntags: [declared]\n---\n# Otters\n\nThey eat urchins.\n"
    document_id = rest.ingest("otters.md", with_keywords)
    assert rest.get(f"/documents/{document_id}").json()["tags"] == ["declared"]
    change = {"title": "Lutrinae compendium", "tags": ["mine"], "metadata": {"a": "b"}}
    assert rest.patch(f"/documents/{document_id}", change).status_code == 200
    job, _ = rest.get("/jobs").json()["items"]
    assert rest.finish(job["job_id"])["status"] == "succeeded"
    hits = rest.post("/search", {"query": "compendium"}).json()["items"]
    assert [hit["metadata"]["document_id"] for hit in hits] == [document_id]
    found = rest.get(f"/documents/{document_id}").json()
    assert (found["title"], found["tags"]) == ("Lutrinae compendium", ["mine"])
    assert found["metadata"]["a"] == "b"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "a\x1b[2J"},
        {"title": "x" * 501},
        {"title": 3},
        {"tags": "mammals"},
        {"tags": [""]},
        {"tags": ["x" * 129]},
        {"tags": [None]},
        {"metadata": {"bad key!": "x"}},
        {"metadata": {"a": 3}},
        {"metadata": {"a": "x" * 2001}},
        {"titel": "x"},
        {"document_id": "x"},
    ],
    ids=str,
)
def test_a_bad_change_is_refused(shared: RestClient, otters: str, change: dict[str, Any]) -> None:
    before = shared.get(f"/documents/{otters}").json()
    response = shared.patch(f"/documents/{otters}", change)
    assert response.status_code == 422, response.text
    assert shared.get(f"/documents/{otters}").json() == before


def test_a_deleted_document_is_gone(shared: RestClient) -> None:
    document_id = shared.ingest("walrus.md", b"# Walrus\n\nWalruses dive.\n")
    response = shared.delete(f"/documents/{document_id}")
    assert (response.status_code, response.content) == (204, b"")
    problem(shared.get(f"/documents/{document_id}"), 404, "document_not_found")
    assert shared.post("/search", {"query": "walruses"}).json()["items"] == []
    problem(shared.delete(f"/documents/{document_id}"), 404, "document_not_found")


def test_tags_come_by_page(shared: RestClient) -> None:
    tags = [f"t{n}" for n in range(5)]
    shared.ingest("tagged.md", b"# Tagged\n\nText.", kb_name="tagged", tags=tags)
    seen: list[str] = []
    cursor = ""
    while True:
        page = shared.get(
            "/tags", params={"kb_name": "tagged", "limit": 2, "cursor": cursor}
        ).json()
        seen += [item["tag"] for item in page["items"]]
        if not (cursor := page["next_cursor"]):
            break
    assert seen == tags
    problem(shared.get("/tags?kb_name=nowhere"), 404, "kb_not_found")
    problem(shared.get("/tags?cursor=!"), 422, "invalid_argument")


def test_a_knowledge_base_from_its_beginning_to_its_end(rest: RestClient) -> None:
    made = rest.post("/kbs", {"name": "law", "title": "Law", "description": "Statutes."})
    assert (made.status_code, made.headers["location"]) == (201, "/kbs/law")
    assert made.json()["documents"] == 0
    problem(rest.post("/kbs", {"name": "law"}), 422, "invalid_argument")
    document_id = rest.ingest("act.md", b"# Act\n\nTaxes are due.", kb_name="law")
    found = rest.get("/kbs/law").json()
    assert (found["documents"], found["bytes"], found["title"]) == (1, 21, "Law")
    changed = rest.patch("/kbs/law", {"name": "tax", "title": "Tax law"}).json()
    assert (changed["name"], changed["title"], changed["description"]) == (
        "tax",
        "Tax law",
        "Statutes.",
    )
    problem(rest.get("/kbs/law"), 404, "kb_not_found")
    assert rest.get(f"/documents/{document_id}").json()["kb_name"] == "tax"
    assert [item["name"] for item in rest.get("/kbs").json()["items"]] == ["tax"]
    assert rest.delete("/kbs/tax").json() == {"documents_deleted": 1}
    problem(rest.get("/kbs/tax"), 404, "kb_not_found")
    problem(rest.delete("/kbs/tax"), 404, "kb_not_found")
    assert rest.get("/documents").json()["items"] == []


@pytest.mark.parametrize("name", ["", "Law", "a b", "../x", "x" * 65, "a\n", "naïve"], ids=repr)
def test_a_bad_name_is_refused(shared: RestClient, name: str) -> None:
    response = shared.post("/kbs", {"name": name})
    problem(response, 422, "invalid_argument")


@pytest.fixture(scope="module")
def two_kbs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestClient]:
    tokens = [
        {"name": "everything", "token": EVERYTHING},
        {"name": "bounded", "token": BOUNDED, "kbs": ["mine"]},
    ]
    auth = {"enabled": True, "tokens": tokens}
    client = RestClient(tmp_path_factory.mktemp("two") / "home", {"auth": auth})
    client.token = EVERYTHING
    client.ingest("mine.md", b"# Mine\n\nWords of mine.", kb_name="mine", tags=["own"])
    client.ingest("other.md", b"# Theirs\n\nWords of others.", kb_name="theirs", tags=["alien"])
    yield client
    client.close()


def test_a_caller_reaches_its_own_knowledge_bases_only(two_kbs: RestClient) -> None:
    client = two_kbs
    everything = client.get("/documents").json()["items"]
    (theirs,) = [item for item in everything if item["kb_name"] == "theirs"]
    (job,) = [item for item in client.get("/jobs").json()["items"] if item["kb_name"] == "theirs"]
    client.token = BOUNDED
    assert [kb["name"] for kb in client.get("/kbs").json()["items"]] == ["mine"]
    assert [tag["tag"] for tag in client.get("/tags").json()["items"]] == ["own"]
    assert {item["kb_name"] for item in client.get("/documents").json()["items"]} == {"mine"}
    assert {item["kb_name"] for item in client.get("/jobs").json()["items"]} == {"mine"}
    for debug in (False, True):
        hits = client.post("/search", {"query": "words", "debug": debug}).json()["items"]
        assert {hit["metadata"]["kb_name"] for hit in hits} == {"mine"}
    document_id, job_id = theirs["document_id"], job["job_id"]
    for path in ("", "/text", "/outline", "/file", "/sections/x"):
        problem(client.get(f"/documents/{document_id}{path}"), 404, "document_not_found")
    problem(client.patch(f"/documents/{document_id}", {"title": "x"}), 404, "document_not_found")
    problem(client.delete(f"/documents/{document_id}"), 404, "document_not_found")
    for path in ("", "/events"):
        problem(client.get(f"/jobs/{job_id}{path}"), 404, "job_not_found")
    problem(client.post(f"/jobs/{job_id}/cancel"), 404, "job_not_found")
    problem(client.post("/search", {"query": "x", "kb_name": "theirs"}), 404, "kb_not_found")
    problem(client.post("/query", {"query": "x", "kb_name": "theirs"}), 404, "kb_not_found")
    problem(client.get("/kbs/theirs"), 404, "kb_not_found")
    problem(client.patch("/kbs/theirs", {"title": "x"}), 404, "kb_not_found")
    problem(client.delete("/kbs/theirs"), 404, "kb_not_found")
    problem(client.post("/kbs", {"name": "new"}), 404, "kb_not_found")
    problem(client.upload("a.md", OTTERS, kb_name="theirs"), 404, "kb_not_found")
    problem(client.get("/tags?kb_name=theirs"), 404, "kb_not_found")
    client.token = EVERYTHING
    assert client.get("/documents").json()["items"] == everything


def test_calls_are_recorded_with_their_caller(two_kbs: RestClient) -> None:
    two_kbs.get("/kbs/mine")
    two_kbs.get("/kbs/nowhere")
    two_kbs.post("/search", {"query": "words"})
    log = two_kbs.app._call_log
    assert log is not None
    log.close()
    made = {(call["tool"], call["outcome"], call["face"]) for call in log.recent()}
    assert made >= {
        ("get_kb", "ok", "rest"),
        ("get_kb", "kb_not_found", "rest"),
        ("core_retrieve_text", "ok", "rest"),
    }
    assert {call["caller"] for call in log.recent()} == {"everything", "bounded"}
