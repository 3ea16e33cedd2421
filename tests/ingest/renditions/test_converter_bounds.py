"""What a converter may do, with small programs in place of one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag_core.ingest.renditions import supervisor
from eagle_rag_core.ingest.renditions.confined import (
    Bounds,
    ConversionFailed,
    environment,
    run_converter,
)
from eagle_rag_core.ingest.renditions.web import flags

pytestmark = pytest.mark.skipif(os.name != "posix", reason="converters need POSIX")
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_converter_sees_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_RAG_MODELS__LLM__API_KEY", "s3cret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    code = "import os; open('seen', 'w').write(repr(sorted(os.environ.items())) + os.getcwd())"
    run_converter(python(code), tmp_path, Bounds(seconds=20))
    seen = (tmp_path / "seen").read_text()
    assert "s3cret" not in seen
    assert seen == repr(sorted(environment(tmp_path).items())) + str(tmp_path)


def test_a_converter_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(ConversionFailed, match=r"longer than 0\.6 s") as failed:
        run_converter(python(code), tmp_path, Bounds(seconds=0.6))
    assert failed.value.passing
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_processes_that_a_converter_leaves_are_ended(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
    )
    run_converter(python(code), tmp_path, Bounds(seconds=20))
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_converter_ends_with_whoever_waits_for_it(tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    written = tmp_path / "pid"
    hanging = (
        f"import os, time\nopen({str(written)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    code = (
        "from pathlib import Path\n"
        "from eagle_rag_core.ingest.renditions.confined import Bounds, run_converter\n"
        f"run_converter({python(hanging)!r}, Path({str(folder)!r}), Bounds(seconds=50))\n"
    )
    waiting = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not (written.exists() and written.read_text()):
            assert waiting.poll() is None
            time.sleep(0.02)
    finally:
        waiting.send_signal(signal.SIGKILL)
        waiting.wait()
    assert is_gone(int(written.read_text()))
    assert in_time(lambda: not folder.exists())


@pytest.mark.parametrize("code", ["raise SystemExit(2)", "import os; os.abort()"])
def test_a_converter_that_fails(tmp_path: Path, code: str) -> None:
    with pytest.raises(ConversionFailed, match="the converter failed") as failed:
        run_converter(python(code), tmp_path, Bounds(seconds=20))
    assert not failed.value.passing


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConversionFailed):
        run_converter(["/nowhere/soffice"], tmp_path, Bounds(seconds=20))


def test_a_converter_writes_no_more_than_it_may(tmp_path: Path) -> None:
    code = "open('out', 'wb').write(bytes(3_000_000))"
    with pytest.raises(ConversionFailed):
        run_converter(python(code), tmp_path, Bounds(seconds=20, bytes=1_000_000))
    assert (tmp_path / "out").stat().st_size <= 1_000_000


@LINUX
def test_a_converter_fills_no_more_memory_than_it_may(tmp_path: Path) -> None:
    code = "bytearray(400_000_000)"
    run_converter(python(code), tmp_path, Bounds(seconds=20, memory_mb=1024))
    with pytest.raises(ConversionFailed):
        run_converter(python(code), tmp_path, Bounds(seconds=20, memory_mb=256))


@LINUX
def test_a_converter_has_no_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        if not may_leave_networks():
            pytest.skip("this system lets no process leave its networks")
        with pytest.raises(ConversionFailed):
            run_converter(python(code), tmp_path, Bounds(seconds=20))


def test_chromium_keeps_its_sandbox_unless_it_is_root() -> None:
    assert "--no-sandbox" not in flags(as_root=False)
    assert "--no-sandbox" in flags(as_root=True)


def may_leave_networks() -> bool:
    folder = Path(supervisor.__file__).parent
    code = "import sys; sys.path.insert(0, sys.argv[1]); import supervisor; " + (
        "sys.exit(not supervisor.cut_network())"
    )
    return subprocess.run([*python(code), str(folder)], check=False).returncode == 0


def is_gone(process_id: int) -> bool:
    """Whether a process is over, or about to be: what is killed stays until it is waited for."""
    stat = Path(f"/proc/{process_id}/stat")

    def gone() -> bool:
        try:
            return stat.read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    return in_time(gone)


def in_time(happened: Callable[[], bool]) -> bool:
    """Whether something happens within seconds."""
    for _ in range(500):
        if happened():
            return True
        time.sleep(0.02)
    return False
