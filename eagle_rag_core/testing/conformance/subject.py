"""The pack under test in a library with two knowledge bases: one to read, one to keep hidden."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import pytest

from eagle_rag_core.errors import EagleError
from eagle_rag_core.plugins import PluginManager
from eagle_rag_core.plugins.effects.permissions import Permissions
from eagle_rag_core.plugins.effects.watch import Watch
from eagle_rag_core.settings.sections import PluginSettings
from eagle_rag_core.testing.conformance.arguments import MustBeGiven, usual_arguments
from eagle_rag_core.testing.library import PackLibrary, pack_from
from eagle_rag_core.types import LOCAL, Caller, Extensions

if TYPE_CHECKING:
    from eagle_rag_core.calls.outcome import CallOutcome
    from eagle_rag_core.plugins.manifest import PackManifest
    from eagle_rag_core.plugins.specs import ToolSpec

READABLE: Final = "readable-shelf"
HIDDEN: Final = "hidden-shelf"
#: Stands in one document of the hidden knowledge base and nowhere else.
CANARY: Final = "canary-7c2f1e90"
#: May read one of the two knowledge bases.
READER: Final = Caller("conformance-reader", frozenset({READABLE}))


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Fail the test with the message of an error of ours instead of a traceback."""
    try:
        yield
    except EagleError as error:
        raise pytest.fail.Exception(f"{what}: {error.message}", pytrace=False) from None


class Subject:
    """A pack with what its author says about it.

    :param folder: one of its own.
    :raises PluginError: the pack has no valid manifest.
    """

    def __init__(
        self,
        pack: ModuleType,
        folder: Path,
        *,
        corpus: Path | None,
        arguments: Mapping[str, Mapping[str, Any]],
        options: Mapping[str, Any],
    ) -> None:
        self.package = pack
        self.source = pack_from(pack)
        self.namespace = self.source.record.namespace
        self._folder = folder
        self._corpus = corpus
        self._arguments = arguments
        self._plugin_options = {self.namespace: dict(options)} if options else {}
        self._opened: list[PackLibrary] = []
        #: What the reader's calls gave when there was no other knowledge base yet.
        self.alone: dict[str, CallOutcome] = {}
        self._hidden: tuple[str, ...] = ()

    @property
    def manifest(self) -> PackManifest:
        assert self.source.manifest is not None
        return self.source.manifest

    @cached_property
    def library(self) -> PackLibrary:
        """Both knowledge bases hold the corpus; the hidden one holds the canary, too."""
        library = self.open("library")
        with explained("A document of the corpus cannot be ingested"):
            sources = list(self._sources(library))
            library.ingest(*sources, kb_name=READABLE)
            self.alone = {tool: self.call(tool, caller=READER, on=library) for tool in self.tools}
            hidden = library.ingest(*sources, kb_name=HIDDEN)
            hidden.append(library.ingest_text(self._canary_text(), "canary.md", kb_name=HIDDEN))
        self._hidden = tuple(hidden)
        return library

    @cached_property
    def empty_library(self) -> PackLibrary:
        return self.open("empty")

    @cached_property
    def registered(self) -> PluginManager:
        """The pack as it registers itself, without an engine."""
        settings = PluginSettings(
            enabled=[self.namespace], default_namespace=self.namespace, options=self._plugin_options
        )
        plugins = PluginManager(settings, packs=[self.source])
        with explained("The pack cannot be loaded"):
            plugins.load()
        return plugins

    @property
    def tools(self) -> tuple[str, ...]:
        return self.source.record.tools

    @property
    def extensions(self) -> Extensions:
        return self.library.plugins.extensions

    def open(self, name: str) -> PackLibrary:
        """A library in a folder of its own, where effects are refused."""
        plugins = {"enforce_effects": True, "options": self._plugin_options}
        with explained("The pack cannot be loaded"):
            library = PackLibrary(self._folder / name, self.package, settings={"plugins": plugins})
        self._opened.append(library)
        return library

    def close(self) -> None:
        for library in self._opened:
            library.close()

    def spec(self, tool: str) -> ToolSpec:
        found = self.registered.registry.get(tool)
        assert found is not None, f"{tool} is declared and was not registered"
        return found

    def usual(self, tool: str) -> dict[str, Any]:
        """Arguments of an ordinary call."""
        name, missing = tool.removeprefix(f"{self.namespace}_"), ""
        try:
            return usual_arguments(self.spec(tool).input_schema, self._arguments.get(name, {}))
        except MustBeGiven as error:
            missing = str(error)
        pytest.fail(
            f"No value for the argument {missing} of {tool} can be made up from its schema. Add "
            f'arguments = {{"{name}": {{"{missing}": …}}}} to the test class.',
            pytrace=False,
        )

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        caller: Caller = LOCAL,
        on: PackLibrary | None = None,
    ) -> CallOutcome:
        """What a caller is answered.

        :param arguments: by default those of an ordinary call.
        """
        pipeline = (on or self.library).app.pipeline
        given = self.usual(tool) if arguments is None else arguments
        return asyncio.run(pipeline.call(tool, given, caller=caller, face="conformance"))

    def watch(self) -> Watch:
        """For code of the pack that runs outside of its tools."""
        needs = self.manifest.needs
        return Watch(Permissions(needs.network, package=self.source.package, variables=needs.env))

    def refusals(self) -> list[str]:
        """The effects refused so far, as the pack's decisions note them."""
        decisions = self.library.plugins.decisions()[self.namespace]
        return [found.detail for found in decisions if found.kind == "effect-refused"]

    @property
    def hidden_documents(self) -> tuple[str, ...]:
        self.library  # noqa: B018  # fills it
        return self._hidden

    @cached_property
    def hidden_nodes(self) -> tuple[str, ...]:
        """The passages of the hidden knowledge base."""
        from sqlalchemy import select

        from eagle_rag_core.catalog.schema import chunks, versions

        nodes = (
            select(chunks.c.node_id)
            .join(versions, versions.c.version_id == chunks.c.version_id)
            .where(versions.c.document_id.in_(self.hidden_documents))
        )
        with self.library.app.engine().catalog.read() as conn:
            return tuple(conn.scalars(nodes))

    def corpus(self) -> list[Path]:
        """The author's files, by name."""
        if self._corpus is None:
            return []
        if self._corpus.is_file():
            return [self._corpus]
        return sorted(
            path
            for path in self._corpus.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        )

    def _sources(self, library: PackLibrary) -> Iterator[Path]:
        if self._corpus is not None:
            yield from self.corpus()
            return
        made = self._folder / "made-up.md"
        made.write_text(f"# A document\n\n{self._words()}\n\n## More\n\n{self._words()}\n", "utf-8")
        yield made

    def _words(self) -> str:
        """All texts among the tools' arguments, so that documents with them are found."""
        arguments = [self.usual(tool) for tool in self.tools]
        return " ".join(dict.fromkeys(_texts(arguments))) or "words"

    def _canary_text(self) -> str:
        return f"# {CANARY}\n\n{self._words()} {CANARY} {self._words()}\n"


def shown(payload: Any) -> str:
    """JSON of a payload, to compare and to search in."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
