from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from life_pack import Life


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with Life(tmp_path / "home", embedder="alpha") as life:
        yield life
