from __future__ import annotations

from collections.abc import Iterator

import pytest
from tool_library import ToolLibrary


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolLibrary]:
    """An empty library that the tests of one module share."""
    library = ToolLibrary(tmp_path_factory.mktemp("tools") / "home")
    yield library
    library.close()
