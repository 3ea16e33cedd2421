"""What others have and do makes no difference to a caller who may not see it, byte for byte.

The same requests go to a library of three tenants and to libraries that hold a caller's own
knowledge bases alone. Whatever a caller could learn of others (texts, counts, ranks, errors, tags,
completions, jobs, cached answers) would show as a difference.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isolation.operations import OPERATIONS, WRITING, Target
from isolation.worlds import CALLERS, KBS, MISSING, Worlds, worlds

FULL = os.environ.get("EAGLE_RAG_TEST_FULL") == "1"
#: Whoever reads more than one knowledge base writes into none here: libraries of parts would
#: otherwise have to be told by somebody else.
WRITERS = ("ann", "cid")
READING = sorted(set(OPERATIONS) - WRITING)
#: Who asks about whose.
CURIOUS = (
    tuple(itertools.product(CALLERS, (*KBS, "absent")))
    if FULL
    else (("ann", "c"), ("bea", "c"), ("cid", "a"))
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    with worlds(tmp_path_factory.mktemp("isolation")) as made:
        yield made


def targets(library: Worlds) -> st.SearchStrategy[Target]:
    documents = library.whole.documents
    return st.builds(
        Target,
        kb=st.sampled_from([*KBS, "plan", "absent"]),
        document=st.sampled_from([*documents.values(), MISSING]),
        job=st.sampled_from([*KBS, "none"]),
        section=st.sampled_from(library.whole.sections),
        word=st.sampled_from(["otters", "zirconium", "Secrets", "a", "c"]),
        number=st.integers(1, 2),
    )


def test_every_tool_and_route_is_tried(library: Worlds) -> None:
    tools = set(library.whole.server.app.pipeline.tools)
    routes = {
        f"{method} {route.path}"
        for route in library.whole.server.api.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    assert tools | routes <= set(OPERATIONS)
    assert set(OPERATIONS) >= WRITING


@pytest.mark.parametrize("name", READING)
def test_reading_about_what_is_anothers(library: Worlds, name: str) -> None:
    """For everything there is to read: callers ask for what is another's, and for nobody's."""
    for caller, kb in CURIOUS:
        document = library.whole.documents.get(kb, MISSING)
        target = Target(kb, document, kb, library.whole.sections[-1], "zirconium", 1)
        for operation in OPERATIONS[name]:
            answer = library.compare(caller, operation(target))
            if kb not in CALLERS[caller] and "c" not in CALLERS[caller]:
                assert "zirconium." not in answer.text


@pytest.mark.parametrize("name", sorted(WRITING))
def test_writing_to_what_is_anothers(library: Worlds, name: str) -> None:
    """Nobody changes what is another's, nor learns that it is there."""
    before = library.whole.send("all", "GET", "/documents").json()
    for caller, kb in (("ann", "c"), ("cid", "a"), ("cid", "b"), ("ann", "absent")):
        document = library.whole.documents.get(kb, MISSING)
        target = Target(kb, document, kb, MISSING, "poison", 1)
        for operation in OPERATIONS[name]:
            answer = library.compare(caller, operation(target))
            assert answer.status in (403, 404, 422), answer
    assert library.whole.send("all", "GET", "/documents").json() == before


@pytest.mark.parametrize("name", READING)
def test_what_is_anothers_is_like_what_is_missing(library: Worlds, name: str) -> None:
    """In one library: the answer about another's differs from that about nothing in the name."""

    def asked(caller: str, kb: str, document: str, job: str) -> list[tuple[int, str]]:
        shown = []
        for operation in OPERATIONS[name]:
            target = Target(kb, document, job, MISSING, "word", 1)
            answer = library.whole.shown(operation(target)(library.whole, caller))
            text = answer.text.replace(document, "DOCUMENT")
            text = text.replace(f"JOB-{job}", "JOB").replace("f" * 32, "JOB")
            for mark in (f"'{kb}'", f"tag-{kb}", f"/{kb}", f'"{kb}"'):
                text = text.replace(mark, "KB")
            shown.append((answer.status, text))
        return shown

    theirs = library.whole.documents["c"]
    assert asked("ann", "c", theirs, "c") == asked("ann", "x", MISSING, "none")


@settings(
    max_examples=60 if FULL else 8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_whatever_everybody_does(library: Worlds, data: st.DataObject) -> None:
    """Callers write and read in any order; each sees what it would see alone."""
    choice = st.tuples(st.sampled_from(sorted(CALLERS)), st.sampled_from(sorted(OPERATIONS)))
    steps = data.draw(st.lists(st.tuples(choice, targets(library)), min_size=4, max_size=10))
    for (caller, name), target in steps:
        if name in WRITING and caller not in WRITERS:
            continue
        for operation in OPERATIONS[name]:
            act = operation(target)
            library.compare(caller, act)
