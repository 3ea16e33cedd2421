"""Chunks: sizes, boundaries, exact offsets."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.ingest.chunking import CHUNKER_VERSION, Chunker
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.types import Chunk, Heading, PageSpan, ParsedDocument, Section

SENTENCE = "The duck swims on the lake and dives for its food. "


def cut(
    text: str, chunker: Chunker | None = None, headings: tuple[Heading, ...] = ()
) -> tuple[Chunk, ...]:
    sections = build_sections(ParsedDocument(text, "text/plain", headings=headings))
    return (chunker or Chunker(1_000, 1_400)).chunk(text, sections, (), "version")


def check(text: str, sections: tuple[Section, ...], chunks: tuple[Chunk, ...]) -> None:
    """What holds for every document."""
    covered = bytearray(len(text))
    previous = -1
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert not chunk.text[0].isspace()
        assert not chunk.text[-1].isspace()
        assert chunk.start > previous
        section = sections[chunk.section]
        assert section.start <= chunk.start
        assert chunk.end <= section.body_end
        assert (chunk.path, chunk.level) == (section.path, section.level)
        covered[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)
        previous = chunk.start
    for section in sections:
        if section.ordinal not in {chunk.section for chunk in chunks}:
            own = text[section.start : section.body_end].strip().strip("#=-* \t\n")
            assert own in ("", section.title)  # nothing, or a heading that introduces others
            covered[section.start : section.body_end] = b"\x01" * (section.body_end - section.start)
    missed = [position for position, seen in enumerate(covered) if not seen]
    assert all(text[position].isspace() for position in missed)


def test_a_short_text_is_one_chunk() -> None:
    text = SENTENCE * 25
    assert [chunk.text for chunk in cut(text)] == [text.strip()]


def test_a_longer_text_is_cut_into_equal_parts_at_sentences() -> None:
    chunks = cut(SENTENCE * 40)
    assert len(chunks) == 3
    assert all(chunk.text.endswith("food.") for chunk in chunks)
    assert all(chunk.text.startswith("The duck") for chunk in chunks)
    lengths = [len(chunk.text) for chunk in chunks]
    assert max(lengths) - min(lengths) <= 2 * len(SENTENCE)


def test_paragraphs_are_packed_and_kept_whole() -> None:
    paragraphs = [f"{number} {SENTENCE * 6}".strip() for number in range(9)]
    chunks = cut("\n\n".join(paragraphs))
    assert [chunk.text for chunk in chunks] == [
        "\n\n".join(paragraphs[first : first + 3]) for first in (0, 3, 6)
    ]


def test_a_heading_that_only_introduces_others_is_no_passage() -> None:
    text = f"Part\n\nOne\n\n{SENTENCE}".strip()
    headings = (Heading("Part", 1, 0), Heading("One", 2, text.index("One")))
    assert [chunk.path for chunk in cut(text, headings=headings)] == ["Part > One"]


def test_a_last_heading_without_text_is_kept() -> None:
    text = f"{SENTENCE}\n\nOutlook"
    headings = (Heading("Outlook", 1, text.index("Outlook")),)
    assert [chunk.text for chunk in cut(text, headings=headings)][-1] == "Outlook"


def test_a_chunk_lies_in_one_section_and_begins_with_its_heading() -> None:
    text = f"Intro.\n\nOne\n\n{SENTENCE}\n\nTwo\n\n{SENTENCE}".strip()
    headings = (Heading("One", 1, 8), Heading("Two", 1, text.index("Two")))
    chunks = cut(text, headings=headings)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["Intro.", "One", "Two"]
    assert [chunk.path for chunk in chunks] == ["", "One", "Two"]


def test_a_heading_is_not_left_alone_by_a_paragraph_that_just_fits() -> None:
    text = f"{'Heading ' * 12}\n\n{SENTENCE * 27}".strip()
    chunks = cut(text, headings=(Heading("Heading", 1, 0),))
    assert len(chunks) == 2
    assert "Heading \n\nThe duck" in chunks[0].text
    assert min(len(chunk.text) for chunk in chunks) > 500


def test_tables_and_code_that_fit_are_not_cut() -> None:
    rows = "\n".join(f"| row {number} | {SENTENCE.strip()} |" for number in range(18))
    code = "```\n" + "\n\n".join(f"call_{number}(argument)" for number in range(40)) + "\n```"
    text = f"{SENTENCE * 10}\n\n{rows}\n\n{code}\n\n{SENTENCE * 10}".strip()
    texts = [chunk.text for chunk in cut(text)]
    assert sum(rows in chunk for chunk in texts) == 1
    assert sum(code in chunk for chunk in texts) == 1


def test_a_large_table_is_cut_between_rows() -> None:
    rows = [f"| row {number} | {SENTENCE.strip()} |" for number in range(60)]
    chunks = cut("\n".join(rows))
    assert len(chunks) > 2
    assert [row for chunk in chunks for row in chunk.text.split("\n")] == rows


def test_a_large_list_is_cut_between_items() -> None:
    items = [f"- item {number}: {SENTENCE}{SENTENCE}".strip() for number in range(30)]
    chunks = cut("\n".join(items))
    assert [item for chunk in chunks for item in chunk.text.split("\n")] == items


def test_an_opening_fence_without_an_end_is_plain_text() -> None:
    text = f"```\n{SENTENCE * 60}"
    assert max(len(chunk.text) for chunk in cut(text)) <= 1_400


def test_words_without_sentences_are_cut_at_white_space() -> None:
    words = [f"word{number}" for number in range(2_000)]
    chunks = cut(" ".join(words))
    assert [word for chunk in chunks for word in chunk.text.split()] == words


def test_a_long_address_stays_whole_and_an_endless_word_is_cut() -> None:
    address = "https://example.org/" + "a" * 900
    text = f"{SENTENCE * 20}{address} {SENTENCE * 20}"
    assert sum(address in chunk.text for chunk in cut(text)) == 1
    assert [len(chunk.text) for chunk in cut("x" * 3_000)] == [1_400, 1_400, 200]


def test_a_combining_mark_stays_with_its_letter() -> None:
    chunks = cut("e\u0301" * 2_000)
    assert all(chunk.text[0] == "e" for chunk in chunks)


def test_ideographs_count_for_more() -> None:
    sentence = "检索增强生成系统将文档切分为段落,并为每个段落建立索引。"
    chunks = cut(sentence * 60)
    assert all(chunk.text.endswith("。") for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) <= 1_400 / 2.5
    assert min(len(chunk.text) for chunk in chunks) >= 300


def test_overlap_repeats_whole_words_of_the_chunk_before() -> None:
    text = SENTENCE * 60
    plain, overlapping = cut(text), cut(text, Chunker(1_000, 1_400, overlap=100))
    assert [chunk.end for chunk in plain] == [chunk.end for chunk in overlapping]
    assert overlapping[0].start == plain[0].start
    for before, after in zip(plain[1:], overlapping[1:], strict=True):
        assert 50 < before.start - after.start <= 100
        assert text[after.start - 1] == " "


def test_pages_are_those_of_the_first_character() -> None:
    text = f"{SENTENCE * 20}\n\n{SENTENCE * 20}".strip()
    second = text.index("\n\n") + 2
    pages = (PageSpan(1, 0, second - 2), PageSpan(2, second, len(text)))
    chunks = Chunker().chunk(text, build_sections(ParsedDocument(text, "x")), pages, "v")
    assert [chunk.page for chunk in chunks] == [1, 2]


def test_node_ids_come_from_version_and_ordinal() -> None:
    chunks = cut(SENTENCE * 60)
    assert chunks[1].node_id == sha256(b"version:1").hexdigest()[:32]
    assert len({chunk.node_id for chunk in chunks}) == len(chunks)


def test_the_fingerprint_tells_sizes_and_version() -> None:
    assert Chunker().fingerprint() == f"chunker={CHUNKER_VERSION}:1200:1600:0"
    assert Chunker(overlap=50).fingerprint() != Chunker().fingerprint()


@pytest.mark.parametrize(
    "sizes", [(1_000, 900, 0), (10, 100, 0), (1_000, 1_400, -1), (1_000, 1_400, 501)]
)
def test_contradictory_sizes_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError):
        Chunker(*sizes)


PIECES = st.sampled_from(
    [
        *(
            "word",
            "Sentence. ",
            "End! ",
            "句子。",
            "漢字",
            " ",
            "\n",
            "\n\n",
            "| a | b |\n",
            "```\n",
        ),
        *("- item\n", "x" * 90, "e\u0301", "\u3000", "🦆", "1. one\n", "\t", "가나다 "),
    ]
)


@given(
    parts=st.lists(PIECES, min_size=1, max_size=120),
    marks=st.lists(st.integers(0, 400), max_size=6),
    sizes=st.sampled_from([(50, 50), (60, 90), (100, 140), (1_000, 1_400)]),
    overlap=st.sampled_from([0, 20]),
)
def test_every_document_is_covered_in_order_within_bounds(
    parts: list[str], marks: list[int], sizes: tuple[int, int], overlap: int
) -> None:
    text = "".join(parts)
    headings = tuple(Heading("h", 1 + mark % 3, mark) for mark in sorted(marks) if mark < len(text))
    sections = build_sections(ParsedDocument(text, "x", headings=headings))
    chunker = Chunker(*sizes, overlap=overlap)
    chunks = chunker.chunk(text, sections, (), "v")
    check(text, sections, chunks)
    assert all(len(chunk.text) <= sizes[1] + overlap for chunk in chunks)
    assert chunks == chunker.chunk(text, sections, (), "v")


@pytest.mark.parametrize(
    "text",
    [
        *(SENTENCE * 40_000, "word " * 400_000, "x" * 2_000_000, "检索增强生成" * 300_000),
        *("```\n" * 300_000, "| a | b |\n" * 100_000, "a\n\n" * 200_000, "- item\n" * 200_000),
    ],
    ids=["prose", "words", "one word", "ideographs", "fences", "table", "paragraphs", "list"],
)
@pytest.mark.timeout(60)
def test_two_megabytes_of_anything_are_no_trouble(text: str) -> None:
    chunks = cut(text)
    assert max(len(chunk.text) for chunk in chunks) <= 1_400
    assert sum(len("".join(chunk.text.split())) for chunk in chunks) == len("".join(text.split()))


def test_abstracts_mostly_fit_one_or_two_chunks() -> None:
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    corpus = data / "ir" / "cranfield" / "corpus.jsonl"
    if not corpus.is_file():
        pytest.skip(f"no Cranfield corpus at {corpus}; set EAGLE_RAG_TEST_DATA")
    counts = []
    for line in corpus.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        counts.append(len(cut(text)))
    assert sum(count <= 2 for count in counts) >= 0.95 * len(counts)
