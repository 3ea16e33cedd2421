"""For authors of packs: tests against the real engine, at the cost of a fake.

Nothing here imports pytest, and nothing heavy is imported before it is used. Packs written to a
folder as installers write them are in :mod:`eagle_rag_core.testing.fake_distributions`.
"""

from eagle_rag_core.testing.documents import enrichment_input
from eagle_rag_core.testing.library import CallFailed, PackLibrary, pack_from
from eagle_rag_core.testing.processes import imported_modules, run_python

__all__ = [
    "CallFailed",
    "PackLibrary",
    "enrichment_input",
    "imported_modules",
    "pack_from",
    "run_python",
]
