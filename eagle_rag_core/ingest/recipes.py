"""The identity of what makes documents, and where pages come in.

Pages that a program of the machine makes are no part of the former. Jobs would wait for a machine
that has the same programs, and a program that is installed would make all documents outdated, not
only those that it can show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from eagle_rag_core.ingest.renditions.renderer import PageRenderer
from eagle_rag_core.ingest.tiles.placing import with_pages
from eagle_rag_core.types import ParsedDocument

#: What the metadata of a document say where its pages could not be made.
NOTE: Final = "pages_note"


@dataclass(frozen=True, slots=True)
class Recipes:
    """The fingerprints that versions of documents carry.

    :param plain: of the pipeline without what makes pages.
    """

    plain: str
    pages: PageRenderer

    def with_pages(self, media_type: str) -> str:
        """Of a version whose format has its pages made."""
        recipe = self.pages.recipe(media_type)
        if not recipe:
            return self.plain
        return hashlib.sha256(f"{self.plain} {recipe}".encode()).hexdigest()[:32]

    def known(self) -> frozenset[str]:
        """Of all versions that this pipeline could have made, on whatever machine."""
        return frozenset({self.plain, *map(self.with_pages, self.pages.media_types())})

    def current(self) -> Mapping[str, frozenset[str]]:
        """Of the versions that need not be made anew, by format; of all others the plain one.

        Where the program is missing that makes pages, those made on another machine are welcome.
        """
        current: dict[str, frozenset[str]] = {}
        for renderer in self.pages.renderers:
            for media_type in renderer.media_types:
                accepted = {self.with_pages(media_type)} if renderer.wanted else {self.plain}
                if not renderer.works:
                    accepted.add(self.plain)
                current[media_type] = frozenset(accepted)
        return current


@dataclass(frozen=True, slots=True)
class Shown:
    """A document with the pages that were made of it.

    :param fingerprint: of the version.
    :param pdf: its pages; b"" where it has its own, or none.
    :param key: under which they are stored, "" without.
    """

    document: ParsedDocument
    fingerprint: str
    pdf: bytes = b""
    key: str = ""


def shown_by_pages(
    pages: PageRenderer, recipes: Recipes, document: ParsedDocument, data: bytes
) -> Shown:
    """Make the pages of a document, where its format has none and a program here makes them.

    Pages that cannot be made are noted in its metadata. They are tried again by a reindexing if
    that may go better, and not otherwise.
    """
    rendition = pages.render(data, document)
    if rendition is None:
        return Shown(document, recipes.plain)
    fingerprint = recipes.with_pages(document.media_type)
    if rendition.pdf:
        return Shown(with_pages(document, rendition.pdf), fingerprint, rendition.pdf, rendition.key)
    noted = replace(document, metadata={**document.metadata, NOTE: rendition.note})
    return Shown(noted, recipes.plain if rendition.passing else fingerprint)
