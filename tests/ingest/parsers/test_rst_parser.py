"""reStructuredText: titles as docutils finds them, but from the source as it stands."""

from __future__ import annotations

import docutils.core
import docutils.nodes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_document

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.rst import RstParser
from eagle_rag_core.types import ParsedDocument

PARSER = RstParser()

GUIDE = """\
.. _top:

=========
 The Guide
=========

:Author: Ann Author
:Date: 2024-05-06
:Keywords: otters, seas
:Abstract: All about it.

Some text with ``code`` and *emphasis*.

1. Setup
========

.. note:: A title
   would be indented here.

   Inner
   -----

::

    Literal
    =======

========  =====
Name      Price
========  =====
Apple     1.50
========  =====

- an item
- another

Sub ``title`` with :ref:`link <target>`
---------------------------------------

Text.

----

After a transition.

字符标题
========

.. include:: /etc/hostname
.. raw:: html

   <b>raw</b>

+------+
| grid |
+======+
| cell |
+------+
"""


def parse(source: str) -> ParsedDocument:
    document = PARSER.parse(source.encode(), "a.rst")
    check_document(document)
    return document


def titles_of_docutils(source: str) -> list[str]:
    """The section titles the reference implementation finds."""
    settings = {
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "_disable_config": True,
        "report_level": 5,
        "halt_level": 5,
        "doctitle_xform": False,
        "docinfo_xform": False,
    }
    tree = docutils.core.publish_doctree(source, settings_overrides=settings)
    return [section[0].astext() for section in tree.findall(docutils.nodes.section)]


def test_titles_nest_in_the_order_of_their_styles() -> None:
    document = parse(GUIDE)
    assert [(heading.level, heading.title) for heading in document.headings] == [
        (1, "The Guide"),
        (2, "1. Setup"),
        (3, "Sub title with link"),
        (2, "字符标题"),
    ]
    assert document.title == "The Guide"
    assert document.text[document.headings[1].start :].startswith("1. Setup\n====")


def test_titles_are_those_of_docutils() -> None:
    source = GUIDE.replace(":ref:`link <target>`", "link").replace("---------\n\nText", "\n\nText")
    found = [heading.title for heading in parse(source).headings]
    assert found == titles_of_docutils(source)


@given(
    st.lists(
        st.sampled_from(
            [
                *("A title\n=======", "B title\n-------", "====\nOver\n====", "Plain text."),
                *("Two lines\nof text.", "- item\n- item", "::\n\n    Literal\n    ====", "1. one"),
                *(".. note:: x\n\n   In\n   --", "=====  =====\nA      B\n=====  =====", "----"),
                *("1. Numbered\n===========", "字\n==", "*Marked* text\n============="),
            ]
        ),
        min_size=1,
        max_size=8,
    ).map(lambda parts: "Start\n#####\n\n" + "\n\n".join([*parts, "End."]))
)
def test_titles_are_those_of_docutils_in_any_order(source: str) -> None:
    expected = titles_of_docutils(source)
    found = [heading.title for heading in parse(source).headings]
    # docutils drops titles whose style comes back at a level that skips one; we keep them.
    assert [title for title in found if title in expected] == expected


def test_nothing_the_source_names_is_read() -> None:
    assert ".. include:: /etc/hostname\n.. raw:: html" in parse(GUIDE).text


def test_fields_at_the_top_become_metadata() -> None:
    document = parse(GUIDE)
    assert document.keywords == ("otters", "seas")
    assert document.metadata == {
        "author": "Ann Author",
        "published": "2024-05-06",
        "description": "All about it.",
    }


@pytest.mark.parametrize(
    "source",
    [
        "Text\nof two lines\n====",
        "- item\n------",
        ".. comment\n==========",
        ":field: value\n=============",
        "ab\n=",
        "| line\n======",
        "  indented\n==========",
        "=====",
    ],
)
def test_what_looks_like_a_title_but_is_none(source: str) -> None:
    assert parse(f"Word.\n\n{source}\n").headings == ()


def test_a_title_may_begin_with_a_role() -> None:
    source = ":mod:`json` --- Encoder\n=======================\n\nText."
    assert [heading.title for heading in parse(source).headings] == ["json --- Encoder"]


@given(st.text(st.sampled_from("=-~^ \n:.`*|ab1字\t"), max_size=200))
def test_any_marks_give_a_document_or_an_empty_one(source: str) -> None:
    try:
        parse(source)
    except IngestError as error:
        assert error.message
