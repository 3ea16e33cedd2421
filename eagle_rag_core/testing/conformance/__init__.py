"""The tests every pack should pass, to be inherited (needs pytest and jsonschema).

::

    from pathlib import Path

    import eagle_rag_standards
    from eagle_rag_core.testing import PackConformance

    class TestStandards(PackConformance):
        pack = eagle_rag_standards
        corpus = Path(__file__).parent / "documents"
        arguments = {"find_references": {"number": 9110}}

Every message of a failing test says what the pack did and what to do instead.
"""

from __future__ import annotations

from eagle_rag_core.testing.conformance.loading import LoadingTests
from eagle_rag_core.testing.conformance.parts import PartTests
from eagle_rag_core.testing.conformance.shape import ShapeTests
from eagle_rag_core.testing.conformance.tools import ToolTests

__all__ = ["PackConformance"]


class PackConformance(ShapeTests, LoadingTests, ToolTests, PartTests):
    """Inherit it, name the class ``Test…``, and say at least which ``pack`` it is for.

    The attributes are those of :class:`~eagle_rag_core.testing.conformance.base.Base`.
    """
