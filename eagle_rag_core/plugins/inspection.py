"""What can be said about a pack from its texts alone: the same for one that is installed, one in
a wheel and one in a source folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.namespaces import CORE_DISTRIBUTION, namespace_problem

if TYPE_CHECKING:
    from eagle_rag_core.plugins.manifest import PackManifest


def target_of(namespace: str, value: str) -> tuple[str, str]:
    """The package and the attribute an entry point names.

    :raises PluginError: the name or the value of the entry point is not valid.
    """
    if problem := namespace_problem(namespace):
        raise PluginError(problem)
    package, _, attribute = value.partition(":")
    if not (package.isidentifier() and attribute.isidentifier()):
        raise PluginError(
            f"The entry point {namespace} = {value!r} is not valid: write "
            '"top_level_package:attribute", without dots or extras.'
        )
    return package, attribute


def manifest_of(text: str, namespace: str) -> PackManifest:
    """The manifest of the pack whose entry point is called ``namespace``.

    :raises PluginError: it is not valid, or is another pack's.
    """
    from eagle_rag_core.plugins.manifest import MANIFEST_NAME, parse_manifest

    manifest = parse_manifest(text)
    if manifest.pack.namespace != namespace:
        raise PluginError(
            f"{MANIFEST_NAME} says namespace {manifest.pack.namespace!r}, the entry point says "
            f"{namespace!r}; they must be equal."
        )
    return manifest


def requirement_problem(requires: Iterable[str], core_version: str) -> str:
    """Why a pack's own requirement on the core is not met, "" if it is.

    What other distributions require of each other is the installer's business.

    :param requires: the pack's dependencies, as in ``Requires-Dist``.
    """
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    for line in requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) != CORE_DISTRIBUTION:
            continue
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if not requirement.specifier.contains(core_version, prereleases=True):
            return (
                f"It requires {CORE_DISTRIBUTION} {requirement.specifier}; "
                f"{core_version} is installed."
            )
    return ""
