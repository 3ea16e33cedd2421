"""Which parser reads which file, and that no damage to a file does more than lose objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.choice import best_parser
from eagle_rag_core.ingest.parsers.registry import core_parsers
from eagle_rag_lakehouse_bi.objects import Catalog
from eagle_rag_lakehouse_bi.parsers import CatalogParser, catalog_parsers
from eagle_rag_lakehouse_bi.rendering import RenderedCatalog

SAMPLES = Path(__file__).parent / "samples"
#: The parser of each sample; the namespace off.
PARSER_OF = {
    "00000000000000000000.json": "delta",
    "catalog.json": "dbt_catalog",
    "columns_dump.csv": "information_schema",
    "cube_meta.json": "cube_meta",
    "dbt_columns.yml": "dbt_yaml",
    "dbt_measures.yml": "dbt_yaml",
    "history.csv": "query_history",
    "keys_dump.json": "information_schema",
    "orders_cube.yml": "cube",
    "questions.sql": "sql_queries",
    "revenue_metric_view.yaml": "metric_view",
    "run_results.json": "dbt_results",
    "semantic_manifest.json": "semantic_manifest",
    "shop.model.lkml": "lookml",
    "shop_mdl.json": "wren_mdl",
    "sources.json": "dbt_results",
    "store_ossie.yaml": "ossie",
}
_PARSERS = {p.name.removeprefix("lakehouse_bi_"): p for p in catalog_parsers()}


def test_every_sample_has_its_parser() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == set(PARSER_OF)


@pytest.mark.parametrize(("file", "parser"), PARSER_OF.items())
def test_files_are_recognised_among_all_parsers(file: str, parser: str) -> None:
    head = (SAMPLES / file).read_bytes()[:65_536]
    chosen = best_parser([*catalog_parsers(), *core_parsers()], head, file)
    assert chosen is not None
    assert chosen.name == f"lakehouse_bi_{parser}"


@pytest.mark.parametrize(("file", "parser"), PARSER_OF.items())
def test_recognition_is_by_content_not_by_the_name_of_the_file(file: str, parser: str) -> None:
    head = (SAMPLES / file).read_bytes()
    renamed = f"export{Path(file).suffix}"
    assert _PARSERS[parser].sniff(head, renamed) >= 0.75


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("name: x\non: push\njobs: {}\n", "ci.yml"),
        ("a: 1\n", "settings.yaml"),
        ('{"cubes": 3, "name": "x"}', "x.json"),
        ('{"models": [], "x": 1}', "x.json"),
        ("name,city\nAnn,Rome\n", "people.csv"),
        ("query,answer\nwhy,so\n", "faq.csv"),
        ("select * from {{ ref('orders') }}", "model.sql"),
        ("# Guide\n\ncubes:\n  - name: x\n", "guide.md"),
        ("The view: a { of the city }", "essay.txt"),
    ],
)
def test_other_files_are_left_to_the_core(text: str, name: str) -> None:
    assert [p.name for p in catalog_parsers() if p.sniff(text.encode(), name) > 0] == []


@pytest.mark.parametrize(("file", "parser"), PARSER_OF.items())
def test_damaged_files_lose_objects_or_are_refused_in_words(file: str, parser: str) -> None:
    data = (SAMPLES / file).read_bytes()
    step = max(1, len(data) // 25)
    for cut in range(0, len(data), step):
        for damaged in (data[:cut], data[:cut] + data[cut + step :], data[:cut] + b"\x00\xff{[:"):
            _read(_PARSERS[parser], damaged, file)


@settings(max_examples=60, deadline=None)
@given(
    file=st.sampled_from(sorted(PARSER_OF)),
    word=st.integers(0, 400),
    instead=st.sampled_from(["null", "7", "[]", "{}", '"x"', "[[1]]", "true", ""]),
)
def test_values_of_any_shape_anywhere_are_survived(file: str, word: int, instead: str) -> None:
    words = (SAMPLES / file).read_text(encoding="utf-8").split(" ")
    words[word % len(words)] = instead
    _read(_PARSERS[PARSER_OF[file]], " ".join(words).encode(), file)


@pytest.mark.parametrize("parser", sorted(_PARSERS))
def test_files_without_content_are_refused(parser: str) -> None:
    readable = _PARSERS[parser].readable
    for data in (b"", b"\n") if readable else (b"", b"{}", b"[]", b"\n", b"a: 1\n"):
        with pytest.raises(IngestError):
            _PARSERS[parser].parse(data, "x")


def test_yaml_that_unfolds_without_end_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for n, m in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{m}: &{m} [*{n}, *{n}, *{n}, *{n}, *{n}, *{n}, *{n}, *{n}]\n"
    for text in (bomb + "cubes: *i\n", "cubes: &a [*a]\n"):
        with pytest.raises(IngestError):
            _PARSERS["cube"].parse(text.encode(), "x.yml")


def test_deeply_nested_files_are_refused() -> None:
    for parser, data in (
        ("cube_meta", b'{"cubes": ' + b"[" * 100_000),
        ("cube", b"cubes: " + b"[" * 5_000),
        ("lookml", b"view: a {" * 5_000),
    ):
        with pytest.raises(IngestError) as caught:
            _PARSERS[parser].parse(data, "x")
        assert caught.value.code in (ErrorCode.PARSE_FAILED, ErrorCode.EMPTY_DOCUMENT)


def _read(parser: CatalogParser, data: bytes, name: str) -> Catalog | None:
    try:
        parsed = parser.parse(data, name)
    except IngestError:
        return None
    assert "\x00" not in parsed.text
    if parser.readable and parsed.payload is None:
        return None
    rendered = parsed.payload
    assert isinstance(rendered, RenderedCatalog)
    return rendered.catalog
