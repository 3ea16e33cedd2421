from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_library import SmallLibrary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SmallLibrary]:
    made = SmallLibrary(tmp_path)
    yield made
    made.close()
