"""The names of a new pack, held to the rules that packs are held to later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from packaging.utils import InvalidName, canonicalize_name

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.guard_text import TITLE, text_findings
from eagle_rag_core.plugins.namespaces import (
    CORE_DISTRIBUTION,
    fold,
    namespace_problem,
    prefix_clashes,
)

#: What names of distributions of packs begin with, so that an index shows what they belong to.
PREFIX: Final = "eagle-rag-"
#: With the tool's own name behind it, a longer one breaks the limits of clients.
_LONGEST_NAMESPACE: Final = 36


@dataclass(frozen=True, slots=True)
class PackNames:
    """How a pack is called.

    :param distribution: what is installed, e.g. ``eagle-rag-orders``.
    :param namespace: what its tools begin with, e.g. ``orders``.
    :param title: for people.
    """

    distribution: str
    namespace: str
    title: str

    @property
    def package(self) -> str:
        """What is imported, e.g. ``eagle_rag_orders``."""
        return self.distribution.replace("-", "_")


def pack_names(
    name: str, *, namespace: str = "", title: str = "", taken: Iterable[str] = ()
) -> PackNames:
    """The names of a pack called ``name``, with or without ``eagle-rag-`` in front.

    :param namespace: by default made of the name.
    :param title: by default made of the namespace.
    :param taken: namespaces of installed packs.
    :raises InvalidArgument: a name or the title is refused, with the reason.
    """
    distribution = _distribution(name)
    namespace = namespace or fold(distribution.removeprefix(PREFIX))
    if problem := namespace_problem(namespace) or _clash(namespace, taken):
        raise InvalidArgument(f"{problem} (--namespace)")
    if len(namespace) > _LONGEST_NAMESPACE:
        raise InvalidArgument(
            f"The namespace {namespace!r} is too long for names of tools; use at most "
            f"{_LONGEST_NAMESPACE} characters. (--namespace)"
        )
    title = title.strip() or namespace.replace("_", " ").capitalize()
    for finding in text_findings(title, TITLE, where="title of the pack"):
        raise InvalidArgument(f"{finding.message} (--title)")
    return PackNames(distribution, namespace, title)


def _distribution(name: str) -> str:
    try:
        canonical = canonicalize_name(name.strip(), validate=True)
    except InvalidName:
        raise InvalidArgument(
            f"{name!r} is no name of a distribution; use ASCII letters, digits and hyphens."
        ) from None
    distribution = canonical if canonical.startswith(PREFIX) else f"{PREFIX}{canonical}"
    if distribution == CORE_DISTRIBUTION:
        raise InvalidArgument(f"{CORE_DISTRIBUTION} is the core itself; choose another name.")
    return distribution


def _clash(namespace: str, taken: Iterable[str]) -> str:
    """Why the installed packs do not leave room for the namespace."""
    for other in taken:
        if namespace == other or list(prefix_clashes([namespace, other])):
            return (
                f"A pack with the namespace {other!r} is installed, and {namespace!r} beside it "
                "would be refused; uninstall it or choose another namespace."
            )
    return ""
