from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "retrieval"))

from small_library import SmallLibrary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SmallLibrary]:
    made = SmallLibrary(tmp_path)
    yield made
    made.close()
