"""Wheels, sdists and source folders of packs, sound until a test changes them."""

from __future__ import annotations

import csv
import hashlib
import io
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path

from eagle_rag_core.scaffold.backends import BACKENDS
from eagle_rag_core.scaffold.names import pack_names
from eagle_rag_core.scaffold.rendering import render

#: Names of the generated pack.
PACKAGE = "eagle_rag_orders"
MANIFEST = f"{PACKAGE}/eagle-pack.toml"
INFO = f"{PACKAGE}-0.1.0.dist-info"
WHEEL = f"{PACKAGE}-0.1.0-py3-none-any.whl"
_METADATA = """\
Metadata-Version: 2.4
Name: eagle-rag-orders
Version: 0.1.0
Requires-Dist: eagle-rag-core>=0.1,<1
"""

Files = Mapping[str, str | bytes | None]


def project_files() -> dict[str, str]:
    return render(pack_names("orders"), BACKENDS["hatchling"])


def wheel_files(changes: Files | None = None) -> dict[str, bytes]:
    """The files of a sound wheel, with changes; ``None`` takes a file out."""
    files: dict[str, str | bytes | None] = {
        path: text for path, text in project_files().items() if path.startswith(f"{PACKAGE}/")
    }
    files[f"{INFO}/METADATA"] = _METADATA
    files[f"{INFO}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{INFO}/entry_points.txt"] = f"[eagle_rag.packs]\norders = {PACKAGE}:pack\n"
    files.update(changes or {})
    return {
        path: content.encode() if isinstance(content, str) else content
        for path, content in files.items()
        if content is not None
    }


def write_wheel(folder: Path, changes: Files | None = None, *, record: str | None = "") -> Path:
    """A wheel.

    :param record: its RECORD; "" for the right one, ``None`` for none.
    """
    files = wheel_files(changes)
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        if record is not None:
            archive.writestr(f"{INFO}/RECORD", record or record_of(files))
    return path


def record_of(files: Mapping[str, bytes]) -> str:
    """The RECORD of a wheel's files."""
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for name, content in files.items():
        digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow([name, f"sha256={digest}", len(content)])
    writer.writerow([f"{INFO}/RECORD", "", ""])
    return rows.getvalue()


def write_sdist(folder: Path, *more: tarfile.TarInfo) -> Path:
    """An sdist, with further entries without content."""
    path = folder / f"{PACKAGE}-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in project_files().items():
            entry = tarfile.TarInfo(f"{PACKAGE}-0.1.0/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        for entry in more:
            archive.addfile(entry)
    return path


def write_folder(folder: Path, changes: Files | None = None) -> Path:
    """A source folder."""
    for name, text in {**project_files(), **(changes or {})}.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder
