"""What an author says of the pack, and the fixtures all groups of tests share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from eagle_rag_core.errors import EagleError
from eagle_rag_core.testing.conformance.subject import Subject, explained


class Base:
    """The pack under test.

    :cvar pack: the package, imported.
    :cvar namespace: the one its manifest should have; "" to take what it has.
    :cvar corpus: a file, or a folder of files, that its tools can answer about.
    :cvar arguments: per tool, without the namespace: arguments of an ordinary call. Those that
        are missing are made up from the schema.
    :cvar options: ``plugins.options.<namespace>``, where the pack does not work without.
    """

    pack: ClassVar[ModuleType]
    namespace: ClassVar[str] = ""
    corpus: ClassVar[Path | None] = None
    arguments: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    options: ClassVar[Mapping[str, Any]] = {}

    _subject: ClassVar[Subject]

    @pytest.fixture
    def subject(self, tmp_path_factory: pytest.TempPathFactory) -> Subject:
        """The pack, with a library that all tests of the class share."""
        cls = type(self)
        if "_subject" not in vars(cls):
            with explained("The pack has no valid manifest"):
                cls._subject = Subject(
                    cls.pack,
                    tmp_path_factory.mktemp("conformance"),
                    corpus=cls.corpus,
                    arguments=cls.arguments,
                    options=cls.options,
                )
        return cls._subject

    @classmethod
    def teardown_class(cls) -> None:
        if "_subject" in vars(cls):
            cls._subject.close()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each tool the manifest declares."""
        if "tool" in metafunc.fixturenames:
            metafunc.parametrize("tool", declared_tools(type(self).pack))


def declared_tools(pack: ModuleType) -> tuple[str, ...]:
    """Full names of the tools a pack declares; none if its manifest cannot be read."""
    from eagle_rag_core.testing.library import pack_from

    try:
        return pack_from(pack).record.tools
    except EagleError:
        return ()
