"""The whole check of one wheel, sdist or source folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import PluginError
from eagle_rag_core.testing.checking.contents import opened
from eagle_rag_core.testing.checking.declarations import declaration_findings, manifests
from eagle_rag_core.testing.checking.findings import Finding
from eagle_rag_core.testing.checking.layout import layout_findings
from eagle_rag_core.testing.checking.sources import source_findings


@dataclass(frozen=True, slots=True)
class CheckedPack:
    """A pack as its manifest describes it."""

    namespace: str
    title: str
    api: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    :param kind: "" where the archive was refused before anything was read.
    :param size: bytes of the installed files.
    :param findings: errors first.
    """

    path: str
    kind: str = ""
    name: str = ""
    version: str = ""
    files: int = 0
    size: int = 0
    packs: tuple[CheckedPack, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether nothing keeps it from being published."""
        return all(finding.severity != "error" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ok": self.ok}


def check(path: Path) -> Report:
    """Look through a wheel, an sdist or a source folder. Nothing of it is imported.

    Of a source folder and an sdist it sees what the wheel would hold, as far as that can be told
    without building it.
    """
    try:
        with opened(path) as contents:
            sound = manifests(contents)
            findings = [
                *contents.findings,
                *declaration_findings(contents),
                *source_findings(contents, sound),
                *layout_findings(contents),
            ]
    except PluginError as error:
        return Report(str(path), findings=(Finding("error", error.message),))
    packs = [
        CheckedPack(m.pack.namespace, m.pack.title, m.pack.api, m.tool_names)
        for m in sound.values()
    ]
    return Report(
        str(path),
        contents.kind,
        contents.artifact.name,
        contents.artifact.version,
        len(contents.sizes),
        sum(contents.sizes.values()),
        tuple(packs),
        tuple(sorted(dict.fromkeys(findings), key=lambda finding: finding.rank)),
    )
