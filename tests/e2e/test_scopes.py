"""What part of the library a search touches: kb_name, scope, scope_filter, filter."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from e2e.product import Deployment
from e2e.servers import Launcher, StdioServer

#: Name, knowledge base, and what else is given on ingest. Every text has the word "animal".
LIBRARY: dict[str, dict[str, Any]] = {
    "otters": {"kb_name": "zoo", "tags": ["sea", "mammal"], "metadata": {"year": "2019"}},
    "pelicans": {"kb_name": "zoo", "tags": ["sea", "bird"], "metadata": {"year": "2024"}},
    "goats": {"kb_name": "farm", "tags": ["mammal"], "source_type": "note", "title": "On goats"},
    "prices": {"kb_name": "shop", "metadata": {"year": "9"}, "source_type": "table"},
}


class Library(NamedTuple):
    server: StdioServer
    ids: dict[str, str]

    def scoped(self, scope: dict[str, Any]) -> dict[str, Any]:
        """A scope with the documents' names replaced by their ids."""
        if "scope" in scope:
            scope = {**scope, "scope": self._ids(scope["scope"])}
        union = scope.get("scope_filter", {})
        if "document_ids" in union:
            union = {**union, "document_ids": self._ids(union["document_ids"])}
            scope = {**scope, "scope_filter": union}
        return scope

    def names(self, document_ids: list[str]) -> set[str]:
        by_id = {document_id: name for name, document_id in self.ids.items()}
        return {by_id[document_id] for document_id in document_ids}

    def _ids(self, names: list[str]) -> list[str]:
        return [self.ids[name] for name in names]


@pytest.fixture(scope="module")
def library(shared_deployment: Deployment, shared_launcher: Launcher) -> Library:
    server = shared_launcher.stdio(shared_deployment)
    ids = {}
    for name, how in LIBRARY.items():
        path = shared_deployment.inbox / f"{name}.md"
        path.write_text(f"# About {name}\n\nThe {name} are what this animal page is about.\n")
        ids[name] = server.add(path, **how)["document_id"]
    return Library(server, ids)


def condition(field: str, op: str, value: str) -> dict[str, str]:
    return {"field": field, "op": op, "value": value}


ALL = set(LIBRARY)
#: Scope, and the documents inside.
SCOPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing-given": ({}, ALL),
    "kb": ({"kb_name": "zoo"}, {"otters", "pelicans"}),
    "documents": ({"scope": ["goats", "prices"]}, {"goats", "prices"}),
    "kb-and-documents-intersect": (
        {"kb_name": "zoo", "scope": ["otters", "goats"]},
        {"otters"},
    ),
    "kb-and-documents-may-exclude-each-other": ({"kb_name": "shop", "scope": ["goats"]}, set()),
    "union-of-kbs": (
        {"scope_filter": {"kb_names": ["farm", "shop"]}},
        {"goats", "prices"},
    ),
    "union-of-tags": ({"scope_filter": {"tags": ["bird", "mammal"]}}, ALL - {"prices"}),
    "union-of-everything": (
        {"scope_filter": {"kb_names": ["shop"], "document_ids": ["goats"], "tags": ["bird"]}},
        {"prices", "goats", "pelicans"},
    ),
    "union-replaces-kb-and-scope": (
        {"kb_name": "farm", "scope": ["goats"], "scope_filter": {"kb_names": ["zoo"]}},
        {"otters", "pelicans"},
    ),
    "empty-union-replaces-nothing": (
        {"kb_name": "farm", "scope_filter": {"kb_names": [], "tags": []}},
        {"goats"},
    ),
    "unknown-tag-beside-a-kb": (
        {"scope_filter": {"kb_names": ["farm"], "tags": ["no-such-tag"]}},
        {"goats"},
    ),
}
FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "tag": ({"filter": [condition("tags", "eq", "sea")]}, {"otters", "pelicans"}),
    "no-tag": ({"filter": [condition("tags", "ne", "sea")]}, {"goats", "prices"}),
    "tags-in": ({"filter": [condition("tags", "in", "bird, mammal")]}, ALL - {"prices"}),
    "all-must-hold": (
        {"filter": [condition("tags", "eq", "sea"), condition("tags", "eq", "mammal")]},
        {"otters"},
    ),
    "within-kb": ({"kb_name": "farm", "filter": [condition("tags", "eq", "mammal")]}, {"goats"}),
    "within-union": (
        {"scope_filter": {"tags": ["sea"]}, "filter": [condition("tags", "eq", "mammal")]},
        {"otters"},
    ),
    "metadata": ({"filter": [condition("metadata.year", "eq", "2024")]}, {"pelicans"}),
    "metadata-as-numbers": (
        {"filter": [condition("metadata.year", "lt", "2020")]},
        {"otters", "prices"},
    ),
    "source-type": (
        {"filter": [condition("source_type", "in", "note,table")]},
        {"goats", "prices"},
    ),
    "title": ({"filter": [condition("title", "prefix", "on g")]}, {"goats"}),
    "source": ({"filter": [condition("source_uri", "contains", "/inbox/pri")]}, {"prices"}),
    "created-today-or-before": ({"filter": [condition("created_at", "le", "2999-01-01")]}, ALL),
    "created-later": ({"filter": [condition("created_at", "gt", "2999-01-01")]}, set()),
}


@pytest.mark.parametrize("case", [*SCOPES, *FILTERS])
def test_a_search_finds_exactly_what_is_inside(library: Library, case: str) -> None:
    scope, inside = {**SCOPES, **FILTERS}[case]
    reply = library.server.call(
        "core_retrieve_text", library.scoped(scope), query="animal", top_k=100
    )
    assert not reply.is_error, reply.raw
    found = [hit["metadata"]["document_id"] for hit in reply.payload]
    assert library.names(found) == inside


@pytest.mark.parametrize("case", [case for case in SCOPES if SCOPES[case][1]])
def test_an_answer_cites_only_what_is_inside(library: Library, case: str) -> None:
    scope, inside = SCOPES[case]
    reply = library.server.call(
        "core_query", library.scoped(scope), query="What is this animal page about?"
    )
    cited = library.names([source["document_id"] for source in reply.payload["sources"]])
    assert cited and cited <= inside


@pytest.mark.parametrize(
    "case", [case for case in FILTERS if "scope_filter" not in FILTERS[case][0]]
)
def test_the_list_of_documents_takes_the_same_filters(library: Library, case: str) -> None:
    scope, inside = FILTERS[case]
    items = library.server.call("core_list_documents", scope).payload["items"]
    assert library.names([item["document_id"] for item in items]) == inside


def test_pages_of_the_list_cover_it_once(library: Library) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = library.server.call("core_list_documents", limit=3, cursor=cursor).payload
        seen += [item["document_id"] for item in page["items"]]
        if not (cursor := page["next_cursor"]):
            break
    assert len(seen) == len(set(seen)) == len(LIBRARY)
    assert library.names(seen) == ALL


def test_the_list_of_kbs_counts_what_is_there(library: Library) -> None:
    items = library.server.call("core_list_kbs").payload["items"]
    assert {item["name"]: item["documents"] for item in items} == {"zoo": 2, "farm": 1, "shop": 1}
    assert all(item["chunks"] == item["documents"] for item in items)


def test_a_scope_never_shrinks_the_number_of_hits(library: Library) -> None:
    """The scope is part of the search, not a sieve behind it."""
    for name, document_id in library.ids.items():
        (text,) = library.server.search("animal", top_k=1, scope=[document_id])
        assert name in text
