"""Records as packs read them: several knowledge bases, and never more than the caller may see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from life_pack import Life

from eagle_rag_core.errors import NotFound
from eagle_rag_core.service.pack_access import ScopedRecords
from eagle_rag_core.types import COMMAND_LINE, Caller, acting_for

GUEST = Caller("guest", kbs=frozenset({"a", "b"}))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three knowledge bases whose documents name animals in capitals, which are recorded."""
    home = tmp_path_factory.mktemp("records") / "home"
    with Life(home, embedder="none") as life:
        for kb, text in (("a", "OTTER SEAL"), ("b", "OTTER"), ("c", "OTTER WHALE")):
            life.add(home.parent / f"{kb}.md", text, kb=kb)
    return home


@pytest.fixture
def records(home: Path) -> Iterator[ScopedRecords]:
    with Life(home) as life:
        yield ScopedRecords(life.engine.catalog, "life")


def found(records: ScopedRecords, *kb_names: str, **options: object) -> list[tuple[str, str]]:
    listed = records.find("name", kb_names=kb_names, **options)  # type: ignore[arg-type]
    return [(record.kb_name, record.fields["text"]) for record in listed]


def test_several_knowledge_bases_are_one_scope(records: ScopedRecords) -> None:
    with acting_for(COMMAND_LINE):
        assert {kb for kb, _ in found(records, "a", "c")} == {"a", "c"}
        assert {kb for kb, _ in found(records, "a", kb_name="b")} == {"a", "b"}
        assert len(found(records)) == 5
        assert records.count("name", {"text": "OTTER"}, kb_names=["a", "b"]) == 2
        assert records.values("name", "text", kb_names=["b", "c"]) == [("OTTER", 2), ("WHALE", 1)]
        assert records.count_by("name", "kb_name", kb_names=["a", "b"]) == [("a", 2), ("b", 1)]


def test_documents_narrow_knowledge_bases(records: ScopedRecords) -> None:
    with acting_for(COMMAND_LINE):
        one, other = (records.find("name", kb_name=kb)[0].document_id for kb in ("a", "c"))
        assert found(records, "b", "c", document_ids=[one, other], order_by="-text") == [
            ("c", "WHALE"),
            ("c", "OTTER"),
        ]
        assert records.values("name", "text", document_ids=[one]) == [("OTTER", 1), ("SEAL", 1)]
        pairs = [(one, "SEAL"), (other, "SEAL"), (other, "WHALE")]
        listed = records.find_pairs("name", "text", pairs, kb_names=["a", "b"])
        assert [record.fields["text"] for record in listed] == ["SEAL"]


def test_nobody_reads_beyond_their_rights(records: ScopedRecords) -> None:
    with acting_for(COMMAND_LINE):
        secret = records.find("name", kb_name="c")[0].document_id
    with acting_for(GUEST):
        assert {kb for kb, _ in found(records)} == {"a", "b"}
        assert records.count_by("name", "kb_name") == [("a", 2), ("b", 1)]
        assert records.find_pairs("name", "text", [(secret, "WHALE")]) == []
        assert records.values("name", "text", document_ids=[secret]) == []
        for names in (["c"], ["a", "c"], ["a", "nowhere"]):
            with pytest.raises(NotFound):
                records.count("name", kb_names=names)
