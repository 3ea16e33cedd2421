"""Whether a wheel holds what its RECORD says, and is called what its metadata say."""

from __future__ import annotations

import csv
import hashlib
import io
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from eagle_rag_core.testing.checking.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zipfile import ZipFile

#: Not listed with a hash: the list itself and its signatures.
_UNLISTED: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")
_BLOCK: Final = 1024 * 1024


def record_findings(archive: ZipFile, dist_info: str, filename: str) -> list[Finding]:
    """What an installer would refuse, or should.

    :param dist_info: the folder of metadata.
    :raises EagleError, OSError: the archive cannot be read.
    """
    record = f"{dist_info}/RECORD"
    listed = _listed(archive.read(record).decode("utf-8", "replace"))
    findings = []
    present = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    for name in present:
        if name in (f"{dist_info}/{unlisted}" for unlisted in _UNLISTED):
            continue
        if name not in listed:
            findings.append(Finding("error", f"{record} does not list it.", name))
        elif not _matches(archive, name, listed[name]):
            findings.append(Finding("error", f"It is not the file that {record} lists.", name))
    missing = sorted(set(listed) - set(present))
    findings += [Finding("error", f"{record} lists it; it is not there.", name) for name in missing]
    return [*findings, *_name_findings(dist_info, filename)]


def _listed(record: str) -> Mapping[str, str]:
    """Hashes by path."""
    return {row[0]: row[1] for row in csv.reader(io.StringIO(record)) if len(row) >= 2}


def _matches(archive: ZipFile, name: str, expected: str) -> bool:
    algorithm, _, value = expected.partition("=")
    if algorithm not in ("sha256", "sha384", "sha512"):
        return False
    digest = hashlib.new(algorithm)
    with archive.open(name) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return urlsafe_b64encode(digest.digest()).rstrip(b"=").decode() == value


def _name_findings(dist_info: str, filename: str) -> list[Finding]:
    try:
        name, version, *_ = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return [Finding("error", "Its file is not named as wheels are; installers refuse it.")]
    own_name, _, own_version = dist_info.removesuffix(".dist-info").rpartition("-")
    if own_name.replace("_", "-").replace(".", "-").lower() != name or own_version != str(version):
        return [Finding("error", f"Its file is named {filename}, its metadata {dist_info}.")]
    return []
