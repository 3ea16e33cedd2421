"""The lock: what a deployment exposes, written down so that any change of it is seen.

A lock holds what clients see of every exposed tool in plain text, for people to review, and
digests of what stands behind: the source of its function, the manifests and files of the
distributions. It names no folder, time or machine, so the same surface gives the same bytes
everywhere. Source text is hashed, not bytecode, which differs between versions of Python.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from eagle_rag_core import __version__
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.plugins.lock_files import files_digest
from eagle_rag_core.plugins.namespaces import CORE, CORE_DISTRIBUTION
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.specs import ToolSpec

#: Format of the file.
FORMAT: Final = 1
#: What clients see of a tool; each part has a digest of its own beside it.
_VISIBLE: Final = ("title", "description", "annotations", "input_schema", "output_schema")

Block = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lock:
    """The exposed surface of one deployment.

    :param packs: fingerprint of the active packs, their order and versions.
    :param distributions: by name: those of the core and of the packs, whether or not their tools
        are exposed, because their hooks work in any case.
    :param tools: by name.
    """

    namespace: str
    packs: str
    distributions: Mapping[str, Block]
    tools: Mapping[str, Block]

    def text(self) -> str:
        """The canonical form, one block for each tool."""
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def parse(cls, text: str, *, where: str) -> Lock:
        """Read what :meth:`text` wrote.

        :param where: name of the file, for messages.
        :raises ConfigError: it is none, is of another format or was edited.
        """
        advice = "Write it anew with `eagle-rag packs lock`."
        try:
            content = json.loads(text)
            found = content.pop("format")
            if found != FORMAT:
                raise ConfigError(
                    f"{where} has the format {found!r}, not {FORMAT}: another version of "
                    f"eagle-rag-core wrote it. {advice}"
                )
            lock = cls(**content)
            if not all(map(_is_block, (*lock.distributions.values(), *lock.tools.values()))):
                raise TypeError
            edited = [name for name, tool in lock.tools.items() if _digests(tool) != tool["sha256"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ConfigError(f"{where} is no lock of tools, or is damaged. {advice}") from None
        if edited:
            raise ConfigError(f"{where} was edited by hand at {', '.join(edited)}. {advice}")
        return lock


def read_lock(path: Path) -> Lock:
    """The lock in a file.

    :raises ConfigError: it cannot be read; says what to do.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"There is no lock {path}; write it with `eagle-rag packs lock` and review it, or "
            "unset plugins.locked."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"The lock {path} cannot be read as UTF-8 text.") from None
    return Lock.parse(text, where=str(path))


def lock_of(
    tools: Iterable[ToolSpec], packs: Sequence[PackSource], *, namespace: str, fingerprint: str
) -> Lock:
    """The lock of a deployment.

    :param tools: the exposed ones.
    :param packs: the active ones.
    :param fingerprint: of the packs.
    """
    return Lock(
        namespace=namespace,
        packs=fingerprint,
        distributions=lock_distributions(packs),
        tools={spec.name: _tool(spec) for spec in tools},
    )


def lock_distributions(packs: Sequence[PackSource]) -> dict[str, Block]:
    """The part of a lock that is known before any pack is imported."""
    core = {
        "namespace": CORE,
        "version": __version__,
        "manifest": None,
        "files": files_digest(CORE_DISTRIBUTION),
    }
    return {CORE_DISTRIBUTION: core, **{p.record.distribution: _distribution(p) for p in packs}}


def _is_block(value: object) -> bool:
    return isinstance(value, dict)


def _distribution(pack: PackSource) -> Block:
    record, manifest = pack.record, pack.manifest
    return {
        "namespace": record.namespace,
        "version": record.version,
        "manifest": _sha256(manifest.model_dump_json(exclude_unset=True)) if manifest else None,
        "files": None if record.editable else files_digest(record.distribution),
    }


def _tool(spec: ToolSpec) -> Block:
    block = {
        "owner": spec.owner,
        "title": spec.title,
        "description": spec.description,
        "annotations": asdict(spec.annotations),
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
        "code": _code(spec.function),
    }
    return {**block, "sha256": _digests(block)}


def _code(function: Callable[..., Any]) -> Block:
    """Names of a tool's function, and the digest of its source, None where there is none."""
    function = inspect.unwrap(function)
    try:
        source = _sha256(inspect.getsource(function))
    except (OSError, TypeError):
        source = None
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return {"module": function.__module__, "function": name, "source": source}


def _digests(tool: Block) -> dict[str, str]:
    return {part: _sha256(json.dumps(tool[part], sort_keys=True)) for part in _VISIBLE}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
