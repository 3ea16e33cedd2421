"""Vocabularies of the user's own: tables, OBO ontologies, SSSOM mappings and SD files."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from eagle_rag_biomed.builtin import parse_rows
from eagle_rag_biomed.chemistry.sdfiles import SdRecord, read_sd_file
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.files import FileUnusable
from eagle_rag_biomed.layers import layered
from eagle_rag_biomed.vocabulary import Source, Vocabulary
from eagle_rag_core.errors import PluginError

_SYNONYM: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
#: What SSSOM calls two identifiers of the same thing.
_SAME: Final = frozenset({"skos:exactMatch", "owl:sameAs", "owl:equivalentClass"})


def with_user_vocabulary(base: Vocabulary, path: Path, kind: ConceptType | None) -> Vocabulary:
    """``base`` with the vocabulary in ``path`` on top.

    :param kind: type of its concepts, where the file does not say it.
    :raises PluginError: the file is not what its name says.
    :raises FileUnusable: it cannot be read.
    """
    reader = _reader(base, path, kind)
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise FileUnusable(
            f"The vocabulary {path.name!r} cannot be read as UTF-8 text.", path
        ) from None
    concepts = tuple(reader(content.splitlines()))
    version = hashlib.sha256(content.encode()).hexdigest()[:8]
    source = Source(path.name, version, "", "yours", "", len(concepts))
    return layered(base, concepts, source)


def _reader(
    base: Vocabulary, path: Path, kind: ConceptType | None
) -> Callable[[list[str]], Iterable[Concept]]:
    name = path.name.lower()
    if name.endswith((".sssom.tsv", ".sssom")):
        return partial(_mappings, base=base)
    if name.endswith(".tsv"):
        return partial(_table, delimiter="\t", kind=kind)
    if name.endswith(".csv"):
        return partial(_table, delimiter=",", kind=kind)
    if name.endswith(".obo"):
        if kind is None:
            raise PluginError(f"Say the type of the concepts in {path.name!r}: an .obo has none.")
        return partial(_obo, kind=kind)
    if name.endswith(".sdf"):
        return partial(_sd_file, prefix=path.stem)
    raise PluginError(
        f"The vocabulary {path.name!r} is none of .tsv, .csv, .obo, .sssom.tsv and .sdf."
    )


def _table(lines: list[str], *, delimiter: str, kind: ConceptType | None) -> Iterator[Concept]:
    rows = csv.reader((x for x in lines if x.strip() and x[0] != "#"), delimiter=delimiter)
    return parse_rows(rows, kind)


def _obo(lines: list[str], *, kind: ConceptType) -> Iterator[Concept]:
    """Terms that are not obsolete; related synonyms are no names and are left out."""
    for tags in _stanzas(lines):
        if tags.get("is_obsolete") == ["true"] or not (tags.get("id") and tags.get("name")):
            continue
        synonyms = (s for s in tags.get("synonym", ()) if " RELATED" not in s)
        names = (m.group(1).replace('\\"', '"') for s in synonyms if (m := _SYNONYM.match(s)))
        yield Concept(
            tags["id"][0],
            kind,
            tags["name"][0],
            tuple(dict.fromkeys(names)),
            tuple(x.split()[0] for x in (*tags.get("xref", ()), *tags.get("alt_id", ())) if x),
            tuple(p.split(" ")[0] for p in tags.get("is_a", ())),
        )


def _sd_file(lines: list[str], *, prefix: str) -> Iterator[Concept]:
    for record in read_sd_file(lines):
        yield Concept(sd_curie(prefix, record), "chemical", record.title, tuple(record.names))


def sd_curie(prefix: str, record: SdRecord) -> str:
    """The identifier of a molecule: an SD file has none of its own.

    :param prefix: the file's name without its ending.
    """
    return f"{prefix}:{'_'.join(record.title.split())}"


def _stanzas(lines: Iterable[str]) -> Iterator[dict[str, list[str]]]:
    tags: dict[str, list[str]] | None = None
    for line in [*lines, "[End]"]:
        if line.startswith("["):
            if tags is not None:
                yield tags
            tags = {} if line.strip() == "[Term]" else None
        elif tags is not None and ": " in line:
            tag, _, value = line.partition(": ")
            tags.setdefault(tag, []).append(value.strip())


def _mappings(lines: list[str], *, base: Vocabulary) -> Iterator[Concept]:
    """Identifiers and labels of one terminology for concepts the base knows by another."""
    rows = csv.DictReader((x for x in lines if x.strip() and x[0] != "#"), delimiter="\t")
    for row in rows:
        if row.get("predicate_id") not in _SAME:
            continue
        ends = [
            (row.get(f"{e}_id") or "", row.get(f"{e}_label") or "") for e in ("subject", "object")
        ]
        for (known_id, _), (other_id, other_label) in (ends, ends[::-1]):
            known = base.by_id(known_id)
            if known and other_id and not base.by_id(other_id):
                names = (other_label,) if other_label and other_label != known.label else ()
                yield Concept(known.curie, known.type, known.label, names, (other_id,))
