"""The package of an EPUB book: metadata, reading order and table of contents.

Sources: EPUB 3.3 (package document, navigation document), OPF 2.0.1 (NCX).
"""

from __future__ import annotations

import logging
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from eagle_rag_core.ingest.parsers.declared import Declared, fields, iso_date, keywords
from eagle_rag_core.ingest.parsers.failures import parse_failed
from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.parsers.zip_container import DAMAGE

logger = logging.getLogger(__name__)

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TYPE = "{http://www.idpf.org/2007/ops}type"
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A chapter's title in the table of contents; ``level`` is 1 for the topmost."""

    title: str
    level: int


@dataclass(frozen=True, slots=True)
class EpubPackage:
    """What a book says about itself.

    :param chapters: members of the archive in reading order, without the table of contents.
    :param contents: by member; its first entry where there are several.
    """

    declared: Declared
    chapters: tuple[str, ...]
    contents: Mapping[str, ContentsEntry] = field(default_factory=dict)

    @property
    def usual_level(self) -> int:
        """Level of chapters that the contents do not name."""
        return min((entry.level for entry in self.contents.values()), default=1)


def read_package(archive: zipfile.ZipFile, name: str) -> EpubPackage:
    """Read container, package document and table of contents.

    :raises IngestError: they are missing or damaged, or the chapters are encrypted.
    """
    place = _package_place(archive, name)
    package = _xml(archive, place)
    if package is None:
        raise parse_failed(name, "is a damaged EPUB book: its list of chapters is not readable.")
    base = posixpath.dirname(place)
    manifest = {item.get("id", ""): item for item in _named(package, "item") if item.get("href")}
    navigation = {
        _resolve(base, item.get("href"))
        for item in manifest.values()
        if "nav" in (item.get("properties") or "").split()
    }
    chapters = tuple(
        dict.fromkeys(
            place
            for item in _spine(package, manifest)
            if (place := _resolve(base, item.get("href"))) not in navigation
        )
    )
    if not chapters:
        raise parse_failed(name, "is an EPUB book without chapters.")
    if encrypted := _encrypted(archive) & set(chapters):
        raise parse_failed(
            name,
            f"is protected by digital rights management: {len(encrypted)} chapters cannot be "
            "read. Get a copy without protection.",
        )
    contents = _contents(archive, base, navigation, manifest)
    return EpubPackage(_declared(package), chapters, contents)


def _package_place(archive: zipfile.ZipFile, name: str) -> str:
    container = _xml(archive, CONTAINER)
    files = list(_named(container, "rootfile")) if container is not None else []
    place = next((one.get("full-path") for one in files if one.get("full-path")), "")
    if not place:
        raise parse_failed(name, "is a damaged EPUB book: it does not say where its content is.")
    return posixpath.normpath(place)


def _xml(archive: zipfile.ZipFile, member: str) -> Any:
    """The root element of a member; ``None`` when it is missing or damaged."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, recover=True
    )
    try:
        return etree.fromstring(archive.read(member), parser)
    except (*DAMAGE, etree.LxmlError) as error:
        logger.info("a part of a book is not readable: %s", type(error).__name__)
        return None


def _named(root: Any, name: str) -> Iterator[Any]:
    """Descendants by local name: books mix the namespaces of several versions."""
    yield from root.iter(f"{{*}}{name}")


def _spine(package: Any, manifest: Mapping[str, Any]) -> Iterator[Any]:
    for reference in _named(package, "itemref"):
        item = manifest.get(reference.get("idref", ""))
        if item is not None and item.get("media-type", "") in _CHAPTER_TYPES:
            yield item


def _resolve(base: str, reference: str) -> str:
    """The member a reference names, fragment left out."""
    path = unquote(urlsplit(reference).path) if "//" not in reference else ""
    return posixpath.normpath(posixpath.join(base, path)) if path else ""


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    if _ENCRYPTION not in archive.namelist():
        return set()
    root = _xml(archive, _ENCRYPTION)
    if root is None:
        return set()
    return {unquote(one.get("URI", "")) for one in _named(root, "CipherReference")}


def _contents(
    archive: zipfile.ZipFile, base: str, navigation: set[str], manifest: Mapping[str, Any]
) -> dict[str, ContentsEntry]:
    """By the navigation document of EPUB 3, else by the NCX of EPUB 2."""
    found: dict[str, ContentsEntry] = {}
    for place in sorted(navigation):
        root = _xml(archive, place)
        for part in _named(root, "nav") if root is not None else ():
            if part.get(_TYPE, "toc") == "toc":
                _collect(found, posixpath.dirname(place), _navigation_entries(part))
    if found:
        return found
    for item in manifest.values():
        if item.get("media-type") == "application/x-dtbncx+xml":
            place = _resolve(base, item.get("href"))
            root = _xml(archive, place)
            if root is not None:
                _collect(found, posixpath.dirname(place), _ncx_entries(root))
    return found


def _collect(
    found: dict[str, ContentsEntry], base: str, entries: Iterator[tuple[str, str, int]]
) -> None:
    for reference, title, level in entries:
        if title and (place := _resolve(base, reference)):
            found.setdefault(place, ContentsEntry(title, min(level, _MAX_LEVEL)))


def _navigation_entries(part: Any) -> Iterator[tuple[str, str, int]]:
    for link in _named(part, "a"):
        depth = sum(1 for _ in link.iterancestors("{*}ol"))
        yield link.get("href", ""), one_line("".join(link.itertext())), max(1, depth)


def _ncx_entries(root: Any) -> Iterator[tuple[str, str, int]]:
    for point in _named(root, "navPoint"):
        content = point.find("{*}content")
        label = point.find("{*}navLabel")
        if content is not None and label is not None:
            depth = 1 + sum(1 for _ in point.iterancestors("{*}navPoint"))
            yield content.get("src", ""), one_line("".join(label.itertext())), depth


def _declared(package: Any) -> Declared:
    texts: dict[str, list[str]] = {}
    metadata = next(_named(package, "metadata"), None)
    for element in (
        metadata.iter("{http://purl.org/dc/elements/1.1/}*") if metadata is not None else ()
    ):
        name = element.tag.rpartition("}")[2]
        if text := one_line("".join(element.itertext())):
            texts.setdefault(name, []).append(text)
    modified = (
        "".join(meta.itertext())
        for meta in _named(package, "meta")
        if meta.get("property") == "dcterms:modified"
    )
    return Declared(
        title=next(iter(texts.get("title", ())), ""),
        language=next(iter(texts.get("language", ())), ""),
        keywords=keywords(texts.get("subject", ())),
        metadata=fields(
            author="; ".join(texts.get("creator", ())),
            description=next(iter(texts.get("description", ())), ""),
            publisher=next(iter(texts.get("publisher", ())), ""),
            identifier=next(iter(texts.get("identifier", ())), ""),
            published=iso_date(next(iter(texts.get("date", ())), "")),
            modified=iso_date(next(modified, "")),
        ),
    )
