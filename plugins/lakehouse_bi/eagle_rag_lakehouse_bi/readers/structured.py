"""Loads JSON and YAML of unknown origin into plain objects.

Mappings of YAML know their line under the key :data:`LINE`. Values keep the spelling of the file:
dates stay texts, and only ``true`` and ``false`` are truth values, so that a key ``on`` is a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from functools import cache
from typing import Any, Final

from eagle_rag_core.errors import IngestError
from eagle_rag_lakehouse_bi.readers.lenient import LINE, Node

#: A file of that many values is no description of data, or a trap of nested aliases.
_MOST_VALUES: Final = 2_000_000
_JINJA_BLOCK: Final = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_JINJA_VALUE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def load_json(data: bytes) -> Any:
    """The value of a JSON file.

    :raises IngestError: it is not valid.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise IngestError("The file is not valid JSON; export it again.") from None


def load_json_lines(data: bytes) -> tuple[list[Node], list[int]]:
    """The objects of a JSON array or of a file with one object a line, and the lines that are
    neither."""
    if data.lstrip()[:1] == b"[":
        value = load_json(data)
        return [v for v in value if isinstance(v, dict)], []
    found: list[Node] = []
    broken: list[int] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if isinstance(value, dict):
            found.append(value)
    return found, broken


def load_yaml(text: str) -> list[Node]:
    """The mappings among the documents of a YAML file, templates of Jinja left unresolved.

    :raises IngestError: it is not valid.
    """
    import yaml

    try:
        documents = _documents(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if "{%" not in text and "{{" not in text and "{#" not in text:
            raise _invalid(error) from None
        try:
            documents = _documents(_without_jinja(text))
        except (yaml.YAMLError, RecursionError, ValueError) as second:
            raise _invalid(second) from None
    return [d for d in documents if isinstance(d, dict)]


def line_of(node: Node) -> int:
    """The line a mapping begins at, 0 when it does not come from YAML."""
    line = node.get(LINE, 0)
    return line if isinstance(line, int) else 0


def _documents(text: str) -> list[Any]:
    import yaml

    # The loader is a safe one: it makes plain values only.
    documents = list(yaml.load_all(text, Loader=_loader()))
    budget = _Budget()
    for document in documents:
        budget.count(document, ())
    return documents


class _Budget:
    """Refuses values that are endless, or much larger than their file, by way of aliases."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def count(self, value: Any, above: tuple[int, ...]) -> None:
        self._left -= 1
        if self._left < 0 or id(value) in above:
            raise ValueError("aliases nest too deep")
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                self.count(inner, (*above, id(value)))


def _without_jinja(text: str) -> str:
    """Blocks go, with their lines kept; values become words, so that YAML can be read."""
    text = _JINJA_BLOCK.sub(lambda m: "\n" * m.group().count("\n"), text)
    return _JINJA_VALUE.sub(
        lambda m: "‹" + " ".join(m.group(1).split()).replace(":", "") + "›", text
    )


def _invalid(error: Exception) -> IngestError:
    mark = getattr(error, "problem_mark", None)
    place = f" (line {mark.line + 1})" if mark is not None else ""
    return IngestError(f"The file is not valid YAML{place}; check it with the tool that wrote it.")


@cache
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        """A safe loader that notes lines and leaves dates and words alone."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
            mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
            mapping[LINE] = node.start_mark.line + 1
            return mapping

    kept = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in kept]
        for first, resolvers in base.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"
    )
    return Loader
