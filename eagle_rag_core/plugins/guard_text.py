"""The guard for texts: what a model reads about a tool must be plain description."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from eagle_rag_core.plugins.guard_characters import hidden_character, look_alike
from eagle_rag_core.plugins.guard_findings import Finding
from eagle_rag_core.plugins.guard_languages import FOREIGN_ORDERS
from eagle_rag_core.plugins.guard_orders import (
    CONVERSATION,
    CONVERSATION_AS_VALUE,
    EFFECTS,
    ORDERS,
    PRIORITY,
    SECRECY,
    SECRETS,
    SECRETS_AS_VALUE,
)
from eagle_rag_core.plugins.guard_payloads import BLOB, PAYLOADS
from eagle_rag_core.plugins.guard_rules import TextRule, findings_of

#: Longest texts, in characters.
MAX_TITLE: Final = 80
MAX_DESCRIPTION: Final = 2000
MAX_PARAMETER: Final = 600
MAX_VALUE: Final = 200

_STEERING: Final = (*PAYLOADS, BLOB, SECRECY, ORDERS, PRIORITY, FOREIGN_ORDERS)
#: "the send_email tool", wherever it comes from.
_SOME_TOOL: Final = re.compile(
    r"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+) (?:tool|function)\b"
    r"|\b(?:together with|the tool) ([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b"
)
_CORE_TOOL: Final = re.compile(r"\bcore_[a-z]+(?:_[a-z]+)*\b")


@dataclass(frozen=True, slots=True)
class TextKind:
    """A kind of text: how long it may be, and the rules it is held to."""

    max_length: int
    rules: tuple[TextRule, ...]
    may_be_empty: bool = False


#: Titles and descriptions of tools that read.
DESCRIPTION: Final = TextKind(MAX_DESCRIPTION, (*_STEERING, CONVERSATION, SECRETS, EFFECTS))
TITLE: Final = TextKind(MAX_TITLE, DESCRIPTION.rules)
#: The description of the one tool that ingests says that it adds.
INGEST_DESCRIPTION: Final = TextKind(MAX_DESCRIPTION, (*_STEERING, CONVERSATION, SECRETS))
#: What a parameter is: the text names a value that the model will pass.
PARAMETER: Final = TextKind(MAX_PARAMETER, (*_STEERING, CONVERSATION_AS_VALUE, SECRETS_AS_VALUE))
#: A value that stands in the schema: a choice, default, example or pattern.
VALUE: Final = TextKind(
    MAX_VALUE, (*_STEERING, CONVERSATION_AS_VALUE, SECRETS_AS_VALUE), may_be_empty=True
)


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Names a tool's texts may and may not use.

    :param namespace: of the tool whose texts are read: it may name the tools of its own pack.
    :param others: full names of all registered tools.
    """

    namespace: str
    others: Collection[str] = ()

    def foreign(self, text: str) -> str:
        """The first tool of someone else that ``text`` names; empty if there is none."""
        own = f"{self.namespace}_"
        named = [
            *_CORE_TOOL.findall(text),
            *(self._full(first or second) for first, second in _SOME_TOOL.findall(text)),
        ]
        if self.others:
            named += _any_of(frozenset(self.others)).findall(text)
        return next((name for name in named if not name.startswith(own)), "")

    def _full(self, name: str) -> str:
        """The full name of a tool of the own pack that a text calls by its short one."""
        full = f"{self.namespace}_{name}"
        return full if full in self.others else name


def text_findings(
    text: str, kind: TextKind, *, where: str, names: ToolNames | None = None
) -> Iterator[Finding]:
    """What is wrong with a text a model reads, gravest first.

    Rules see the text up to its longest length, so that their cost is bounded.

    :param where: names the text in messages, e.g. ``description of tool 'biomed_query_entities'``.
    :param names: which tools the text may name.
    """
    if not text.strip():
        if not kind.may_be_empty:
            yield Finding(
                "text-empty", where, f"The {where} is empty; say in a sentence what it is."
            )
        if not text:
            return
    if len(text) > kind.max_length:
        yield Finding(
            "text-length",
            where,
            f"The {where} has {len(text)} characters; at most {kind.max_length} are allowed.",
        )
    text = text[: kind.max_length]
    yield from _character_findings(text, where=where)
    if "`" in text:
        yield Finding(
            "text-back-tick",
            where,
            f"The {where} holds a back-tick, which some clients refuse; leave it out.",
        )
    if names and (named := names.foreign(text)):
        yield Finding(
            "text-tool-name",
            where,
            f"The {where} names the tool {named!r} of someone else; describe only your own.",
        )
    yield from findings_of(kind.rules, text, where=where)


def _character_findings(text: str, *, where: str) -> Iterator[Finding]:
    """Characters that do not show and words in letters that pass for others."""
    if hidden := hidden_character(text):
        yield Finding(
            "text-hidden", where, f"The {where} holds the invisible character {hidden}; remove it."
        )
    if word := look_alike(text):
        yield Finding(
            "text-look-alike",
            where,
            f"The {where} holds the word {word!a}, whose letters look like others; "
            "write each word in one alphabet.",
        )


@cache
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
