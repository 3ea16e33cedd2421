"""The maker of packs under the names that the tests of whole processes use."""

from __future__ import annotations

from pathlib import Path

from eagle_rag_core.testing import fake_distributions
from eagle_rag_core.testing.fake_distributions import pack_manifest as manifest

__all__ = ["manifest", "write_pack"]


def write_pack(
    folder: Path,
    namespace: str,
    *,
    body: str | None = None,
    text: str | None = None,
    distribution: str = "",
    package: str = "",
) -> str:
    return fake_distributions.write_pack(
        folder,
        namespace,
        code=body,
        manifest=text,
        distribution=distribution,
        package=package,
    )
