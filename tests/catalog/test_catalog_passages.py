from __future__ import annotations

from catalog_samples import NAMESPACE, draft, publish

from eagle_rag_core.catalog import passages, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import ChunkSpan, Passage
from eagle_rag_core.types import LOCAL


def test_a_passage_knows_its_section_and_document(catalog: Catalog) -> None:
    item = draft("file:///a", kb="kb", source_type="paper")
    publish(catalog, item, draft("file:///b"))
    first, second, _ = item.chunks
    with catalog.read() as conn:
        found = passages.passages(conn, NAMESPACE, [second.node_id, first.node_id, "unknown"])
    assert set(found) == {first.node_id, second.node_id}
    assert found[second.node_id] == Passage(
        node_id=second.node_id,
        version_id=item.document.version_id,
        document_id=item.document.document_id,
        kb_name="kb",
        source_uri="file:///a",
        source_type="paper",
        title="Title of file:///a",
        ordinal=1,
        start=second.start,
        end=second.end,
        page=2,
        text="Gamma delta.",
        section=1,
        path="Body",
        level=1,
        summary="About the body.",
        body_end=len(item.text),
    )
    assert (found[first.node_id].path, found[first.node_id].level) == ("", 0)


def test_only_visible_versions_of_this_namespace_are_passages(catalog: Catalog) -> None:
    old, new = draft(text="Old."), draft(text="New.")
    publish(catalog, old)
    publish(catalog, new)
    wanted = [old.chunks[0].node_id, new.chunks[0].node_id]
    with catalog.read() as conn:
        assert list(passages.passages(conn, NAMESPACE, wanted)) == wanted[1:]
        assert passages.passages(conn, "other", wanted) == {}
        assert passages.passages(conn, NAMESPACE, []) == {}
    with catalog.write() as tx:
        versions.delete_document(tx, NAMESPACE, LOCAL, new.document.document_id)
        assert passages.passages(tx, NAMESPACE, wanted) == {}


def test_a_section_lists_its_chunks_in_text_order(catalog: Catalog) -> None:
    one, two = draft("file:///1"), draft("file:///2", text="A.\n\nB.\n\nC.\n\nD.")
    publish(catalog, one, two)
    body, root = (one.document.version_id, 1), (two.document.version_id, 0)
    unknown = ("0" * 32, 3)
    with catalog.read() as conn:
        found = passages.section_chunks(conn, [body, root, unknown, body])
    assert found == {
        body: [
            ChunkSpan(chunk.node_id, chunk.ordinal, chunk.start, chunk.end, chunk.page)
            for chunk in one.chunks[1:]
        ],
        root: [ChunkSpan(two.chunks[0].node_id, 0, 0, 2, 1)],
        unknown: [],
    }


def test_spans_of_text_are_cut_by_characters(catalog: Catalog) -> None:
    text = "Ünïcode \N{OK HAND SIGN} 漢字.\n\nMore."
    one, two = draft("file:///1", text=text), draft("file:///2")
    publish(catalog, one, two)
    first, second = one.document.version_id, two.document.version_id
    wanted = [(first, 8, 9), (first, 10, 12), (first, 0, len(text)), (second, 6, 10)]
    with catalog.read() as conn:
        found = passages.span_texts(conn, [*wanted, ("0" * 32, 0, 5)])
    assert [found.get(span) for span in wanted] == ["\N{OK HAND SIGN}", "漢字", text, "beta"]
    assert len(found) == 4


def test_fields_of_packs_are_kept_with_the_chunk(catalog: Catalog) -> None:
    from sqlalchemy import select

    from eagle_rag_core.catalog.schema import chunks

    publish(catalog, draft(fields={"1": {"biomed": {"genes": ["TP53"]}}}))
    with catalog.read() as conn:
        stored = conn.scalars(select(chunks.c.fields).order_by(chunks.c.ordinal)).all()
    assert stored == [{}, {"biomed": {"genes": ["TP53"]}}, {}]
