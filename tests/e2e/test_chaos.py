"""kill -9 at random moments of servers, workers and commands: nothing that was acknowledged is
lost, nothing is doubled or stale, and an audit finds nothing."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
from e2e.chaos import Chaos
from e2e.servers import Launcher

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="Child processes are found as Linux shows them."
)
_LOG = logging.getLogger(__name__)
#: Of everything random; set another one to see other moments.
SEED = int(os.environ.get("EAGLE_RAG_TEST_SEED", "2026"))


def run(folder: Path, launcher: Launcher, seed: int, cycles: int) -> None:
    library = Chaos(folder, launcher, seed)
    for _ in range(cycles):
        library.cycle()
    library.finish()
    _LOG.info("seed %d: %s", seed, library.numbers)
    assert library.numbers.acknowledged > cycles
    assert library.numbers.workers_killed > 0


def test_a_library_survives_four_kills(tmp_path: Path, launcher: Launcher) -> None:
    run(tmp_path, launcher, SEED, cycles=4)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(4))
def test_a_library_survives_a_hundred_kills(tmp_path: Path, launcher: Launcher, seed: int) -> None:
    run(tmp_path, launcher, SEED + seed, cycles=45)
