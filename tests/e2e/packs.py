"""Packs for the tests of whole processes, installed in a folder of their own."""

from __future__ import annotations

from pathlib import Path

from eagle_rag_core.testing.fake_distributions import pack_code, write_pack


def install_pack(
    site: Path,
    namespace: str,
    *,
    body: str | None = None,
    text: str | None = None,
    distribution: str = "",
    package: str = "",
    **parts: object,
) -> str:
    """Install a pack with one tool, ``<namespace>_query_things``, and one enricher.

    :param body: the whole module instead.
    :param text: the manifest instead of the right one.
    :param parts: what runs where, and terms; see :func:`pack_code`.
    :returns: name of the pack's package.
    """
    site.mkdir(parents=True, exist_ok=True)
    return write_pack(
        site,
        namespace,
        code=pack_code(namespace, **parts) if body is None else body,  # type: ignore[arg-type]
        manifest=text,
        distribution=distribution,
        package=package,
    )
