"""``plugins.enforce_effects``: calls of packs' tools are stopped before they change anything."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.testing import CallFailed, PackLibrary
from eagle_rag_core.testing.fake_distributions import DECLARED, pack_code, pack_manifest, write_pack

#: What the tool does, by its query.
DEEDS = """
import os, pathlib, socket, threading

def reach(port):
    socket.create_connection(("127.0.0.1", int(port))).close()

def hide():
    try:
        pathlib.Path(FILE).write_text("x")
    except Exception:
        pass
"""
IN_TOOL = """
deed, _, what = query.partition(" ")
if deed == "write": pathlib.Path(FILE).write_text("x")
if deed == "hide": hide()
if deed == "reach": reach(what)
if deed == "search": query = str(len(ctx.search.text(what)))
if deed == "break": 1 / 0
if deed == "peek": query = open(what).read()
"""
Open = Callable[..., PackLibrary]
#: Each pack is imported under a name of its own.
NUMBERS = count()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "written"


@pytest.fixture
def library(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a library with a pack that does what its query says."""
    opened: list[PackLibrary] = []
    monkeypatch.syspath_prepend(str(tmp_path))

    def open_library(*, enforce: bool = True, needs: str = "") -> PackLibrary:
        namespace = f"deeds{next(NUMBERS)}"
        code = pack_code(namespace, at_import=f"FILE = {str(file)!r}\n{DEEDS}", in_tool=IN_TOOL)
        manifest = pack_manifest(namespace, more=f"{DECLARED}{needs}")
        write_pack(tmp_path, namespace, code=code, manifest=manifest)
        (source,) = discover([str(tmp_path)]).packs
        settings = {"plugins": {"enforce_effects": enforce}}
        opened.append(PackLibrary(tmp_path / "home", source, settings=settings))
        return opened[-1]

    yield open_library
    for one in opened:
        one.close()


def ask(library: PackLibrary, query: str) -> Any:
    (found,) = library.call(f"{library.app.settings.namespace}_query_things", query=query)
    return found["name"]


def test_an_effect_is_refused_with_a_code_and_noted(
    library: Open, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = library()
    with pytest.raises(CallFailed, match="tried to change the file system") as failed:
        ask(opened, "write")
    assert failed.value.code is ErrorCode.EFFECT_REFUSED
    assert str(file) not in str(failed.value)
    assert not file.exists()
    assert f"open {file} at {opened.plugins.records[0].namespace}_pack:" in caplog.text
    ((decision,),) = opened.plugins.decisions().values()
    assert decision.kind == "effect-refused"
    assert "_query_things: file (open) at " in decision.detail
    assert str(file) not in decision.detail


def test_a_refused_call_stands_in_the_audit(library: Open) -> None:
    opened = library()
    with pytest.raises(CallFailed):
        ask(opened, "write")
    log = opened.app._call_log
    assert log is not None
    (call,) = log.recent()
    assert call["outcome"] == ErrorCode.EFFECT_REFUSED


def test_a_tool_that_hides_the_refusal_is_refused(library: Open, file: Path) -> None:
    with pytest.raises(CallFailed) as failed:
        ask(library(), "hide")
    assert failed.value.code is ErrorCode.EFFECT_REFUSED
    assert not file.exists()


def test_calls_without_effects_are_answered_as_ever(
    library: Open, caplog: pytest.LogCaptureFixture
) -> None:
    opened = library()
    opened.ingest_text("Otters hold hands.")
    assert ask(opened, "nothing") == "nothing"
    with pytest.raises(CallFailed) as failed:
        ask(opened, "break")
    assert failed.value.code is ErrorCode.INTERNAL
    assert opened.call("core_retrieve_text", query="otters")
    assert "Refused" not in caplog.text


def test_the_context_s_work_is_not_the_tool_s(
    library: Open, caplog: pytest.LogCaptureFixture
) -> None:
    opened = library()
    opened.ingest_text("Otters hold hands.")
    opened.app.engine().catalog.close()  # the search has to open the database anew
    assert ask(opened, "search otters") == "1"
    assert "Refused" not in caplog.text


def test_the_library_s_files_are_not_read_past_the_context(library: Open) -> None:
    opened = library()
    home = opened.app.settings.home
    assert ask(opened, f"peek {home / 'eagle-rag.yaml'}") == ""
    with pytest.raises(CallFailed, match="read the library's own files"):
        ask(opened, f"peek {home / 'catalog.db'}")


def test_only_declared_addresses_are_reached(library: Open) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        opened = library(needs=f'[needs]\nnetwork = ["127.0.0.1:{port}"]')
        assert ask(opened, f"reach {port}") == f"reach {port}"
        with pytest.raises(CallFailed, match=r"\[needs\] network"):
            ask(opened, f"reach {port + 1 if port < 65535 else port - 1}")


def test_without_the_setting_nothing_is_watched(library: Open, file: Path) -> None:
    opened = library(enforce=False)
    assert ask(opened, "write") == "write"
    assert file.read_text() == "x"
