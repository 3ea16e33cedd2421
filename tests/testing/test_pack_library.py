"""The authors' library: the real engine, with packs that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from word_pack import MANIFEST, WordPack, word_pack

from eagle_rag_core.errors import ConfigError, ErrorCode, IngestError, NotFound, PluginError
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.states import PackState
from eagle_rag_core.testing import CallFailed, PackLibrary, pack_from
from eagle_rag_core.testing.fake_distributions import pack_code, write_pack


@pytest.fixture
def library(tmp_path: Path) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path / "home", word_pack(WordPack())) as library:
        yield library


def test_what_is_ingested_is_recorded_found_and_shown(library: PackLibrary) -> None:
    document_id = library.ingest_text("The NASA report.\n", "report.md")
    (record,) = library.records("word")
    assert (record.fields["text"], record.document_id) == ("NASA", document_id)
    assert library.call("words_find_capitals") == [{"text": "NASA", "passage": "The NASA report."}]
    (passage,) = library.passages(record.node_id)
    assert (passage.document_id, passage.text) == (document_id, "The NASA report.")
    (hit,) = library.call("core_retrieve_text", query="capitalised")
    assert hit["node_id"] == record.node_id


def test_ids_of_documents_come_in_the_order_of_their_files(
    library: PackLibrary, tmp_path: Path
) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.md").write_text(f"Of {name.upper() * 3}.", "utf-8")
    ids = library.ingest(tmp_path / "b.md", str(tmp_path / "a.md"))
    words = [library.records("word", document_ids=[one])[0].fields["text"] for one in ids]
    assert words == ["BBB", "AAA"]


def test_a_text_of_the_same_name_replaces_the_document(library: PackLibrary) -> None:
    first = library.ingest_text("The ESA report.")
    assert library.ingest_text("The JAXA report.") == first
    assert [record.fields["text"] for record in library.records("word")] == ["JAXA"]


def test_records_are_narrowed_as_packs_narrow_them(library: PackLibrary) -> None:
    library.ingest_text("ONE TWO THREE", kb_name="first")
    library.ingest_text("ONE FOUR", kb_name="second")
    assert len(library.records("word")) == 5
    assert len(library.records("word", {"text": "ONE"})) == 2
    assert len(library.records("word", kb_name="second")) == 2
    assert len(library.records("word", limit=3)) == 3
    assert library.records("other") == []
    with pytest.raises(NotFound):
        library.records("word", kb_name="third")


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("words_find_capitals", {"limit": 0}, ErrorCode.INVALID_ARGUMENT),
        ("words_find_capitals", {"kb_name": "odd"}, ErrorCode.INVALID_ARGUMENT),
        ("words_find_capitals", {"kb_name": "absent"}, ErrorCode.KB_NOT_FOUND),
        ("words_find_capitals", {"most": 3}, ErrorCode.UNKNOWN_ARGUMENT),
        ("words_count_capitals", {}, ErrorCode.TOOL_NOT_FOUND),
    ],
)
def test_a_failed_call_raises_what_its_caller_is_sent(
    library: PackLibrary, tool: str, arguments: dict[str, object], code: ErrorCode
) -> None:
    with pytest.raises(CallFailed, match=tool) as failed:
        library.call(tool, **arguments)
    assert failed.value.code is code
    assert failed.value.error["retryable"] is False
    assert failed.value.error["error"] in str(failed.value)


def test_a_failed_ingest_raises_its_reason(library: PackLibrary) -> None:
    with pytest.raises(IngestError, match="words_enricher") as failed:
        library.ingest_text("A FORBIDDEN word.")
    assert failed.value.code is ErrorCode.PLUGIN_FAILED
    assert "must not see" not in failed.value.message
    with pytest.raises(IngestError) as missing:
        library.ingest("/no/such/file.md")
    assert missing.value.code is ErrorCode.SOURCE_NOT_FOUND


def test_ingest_works_where_serving_processes_leave_it_to_workers(tmp_path: Path) -> None:
    settings = {"ingest": {"embedded_worker": False}}
    with PackLibrary(tmp_path, word_pack(WordPack()), settings=settings) as library:
        assert library.ingest_text("The NASA report.")


def test_a_home_keeps_its_library(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, word_pack(WordPack())) as library:
        library.ingest_text("The NASA report.")
    library.close()
    with PackLibrary(tmp_path, word_pack(WordPack())) as again:
        assert len(again.records("word")) == 1


def test_the_machine_s_own_configuration_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("eagle-rag.yaml").write_text("no_such_setting: 1", "utf-8")
    monkeypatch.setenv("EAGLE_RAG_CONFIG", str(tmp_path / "absent.yaml"))
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "absent")
    monkeypatch.setenv("EAGLE_RAG_HOME", str(tmp_path / "other"))
    monkeypatch.setenv("EAGLE_RAG_PLUGINS__DEFAULT_NAMESPACE", "core")
    with PackLibrary(tmp_path / "home", word_pack(WordPack())) as library:
        assert library.app.settings.namespace == library.app.settings.profile == "words"
        assert library.app.settings.home == tmp_path / "home"


def test_settings_are_merged_over_the_usual_ones(tmp_path: Path) -> None:
    settings = {"plugins": {"default_namespace": "core"}, "query": {"evidence": 2}}
    with PackLibrary(tmp_path, word_pack(WordPack()), settings=settings) as library:
        assert library.plugins.records[0].active
        assert "words_find_capitals" not in library.app.pipeline.tools
        assert library.app.settings.models.text_embedder == "none"
        assert library.app.settings.query.evidence == 2


@pytest.mark.parametrize(
    "settings",
    [{"query": {"evidense": 2}}, {"models": {"reranker": "no_such"}}],
    ids=["at-reading", "at-opening"],
)
def test_settings_that_cannot_work_are_refused(
    tmp_path: Path, settings: dict[str, dict[str, object]]
) -> None:
    with pytest.raises(ConfigError):
        PackLibrary(tmp_path, settings=settings)


def test_several_packs_are_enabled_and_the_first_gives_the_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(tmp_path, "beside", package="pack_beside_words")
    monkeypatch.syspath_prepend(tmp_path)
    (beside,) = discover([str(tmp_path)]).packs
    with PackLibrary(tmp_path / "home", word_pack(WordPack()), beside) as library:
        assert library.app.settings.plugins.enabled == ["words", "beside"]
        assert {r.namespace for r in library.plugins.records if r.active} == {"words", "beside"}
        owned = [name for name in library.app.pipeline.tools if not name.startswith("core_")]
        assert owned == ["words_find_capitals"]


def test_without_packs_it_is_the_core_s_library(tmp_path: Path) -> None:
    with PackLibrary(tmp_path) as library:
        library.ingest_text("Otters hold hands.")
        assert len(library.call("core_retrieve_text", query="otters")) == 1


def test_a_pack_that_cannot_be_loaded_is_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = write_pack(tmp_path, "hasty", code=pack_code("hasty", in_hook="raise ValueError(1)"))
    monkeypatch.syspath_prepend(tmp_path)
    (hasty,) = discover([str(tmp_path)]).packs
    assert hasty.package == package
    with pytest.raises(PluginError, match="register_tools raised ValueError"):
        PackLibrary(tmp_path / "home", hasty)


def test_a_package_is_taken_with_the_manifest_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package_of_words"
    package.mkdir()
    (package / "__init__.py").write_text("from word_pack import WordPack\npack = WordPack()")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("package_of_words")
    with pytest.raises(PluginError, match=r"package_of_words has no eagle-pack\.toml"):
        pack_from(module)
    (package / "eagle-pack.toml").write_text(MANIFEST, "utf-8")
    source = pack_from(module)
    assert (source.record.namespace, source.record.state) == ("words", PackState.DISCOVERED)
    with PackLibrary(tmp_path / "home", module) as library:
        assert library.call("words_find_capitals") == []
