"""YAML in which nothing may be said twice: the second would win without a word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ConfigError

if TYPE_CHECKING:
    from yaml import Node

#: ``<<``, which may be repeated.
_MERGE: Final = "tag:yaml.org,2002:merge"


def parse(text: str, path: Path) -> Any:
    """The content of a YAML file.

    :param path: names the file in messages.
    :raises ConfigError: a mapping has a key twice.
    :raises yaml.YAMLError: it is not YAML.
    """
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_duplicates(node, path)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _refuse_duplicates(root: Node, path: Path) -> None:
    from yaml import MappingNode, ScalarNode, SequenceNode

    waiting: list[Node] = [root]
    seen: set[int] = set()  # an alias is the node it stands for, and may stand inside of it
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting.extend(node.value)
        if not isinstance(node, MappingNode):
            continue
        lines: dict[str, int] = {}
        for key, value in node.value:
            waiting.append(value)
            if not isinstance(key, ScalarNode) or key.tag == _MERGE:
                continue
            line = key.start_mark.line + 1
            if key.value in lines:
                raise ConfigError(
                    f"The configuration file {path} has {key.value!r} twice, in lines "
                    f"{lines[key.value]} and {line}; write it once."
                )
            lines[key.value] = line
