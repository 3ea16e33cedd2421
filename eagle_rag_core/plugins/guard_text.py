"""The guard for texts: what a model reads about a tool must be plain description."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from eagle_rag_core.errors import GuardError

#: Longest texts, in characters.
MAX_TITLE: Final = 80
MAX_DESCRIPTION: Final = 2000
MAX_PARAMETER: Final = 600

_ORDERS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}"
        r"\b(instructions?|rules?|prompts?|guidelines?|polic(y|ies)|(other|previous) tools?)\b",
        r"</?\s*(important|system|instructions?|secret|admin|assistant|user|tool)\b",
        r"\bsystem (prompt|message)s?\b",
        r"\b(you|the (model|assistant|agent|ai|llm)) "
        r"(must|should|shall|has to|have to|needs? to)\b",
        r"\b(do not|don't|never) (tell|inform|mention|reveal|warn|notify|ask) "
        r"(the )?(user|anyone|it)\b",
        r"\b(always|must) (call|use|invoke|run|prefer) (this|me)\b",
        r"\b(call|use|invoke|run) (this|me)( tool)? (first|before|instead)\b",
        r"\bbefore (using|calling|running|invoking) (any|all|every|other)\b",
    )
)
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://|\bwww\.|!?\[[^\]]*\]\(", re.IGNORECASE)


def check_text(text: str, *, what: str, max_length: int = MAX_DESCRIPTION) -> None:
    """Refuse a title or description that is empty, hides something or gives orders.

    :param what: names the text in messages, e.g. ``description of tool 'biomed_query_entities'``.
    :raises GuardError: names the fault and says what to do.
    """
    if not text.strip():
        raise GuardError(f"The {what} is empty; say in a sentence what it is.")
    if len(text) > max_length:
        raise GuardError(
            f"The {what} has {len(text)} characters; at most {max_length} are allowed."
        )
    check_characters(text, what=what)
    if "`" in text:
        raise GuardError(f"The {what} holds a back-tick, which some clients refuse; leave it out.")
    if found := _ADDRESS.search(text):
        raise GuardError(f"The {what} holds a link ({found[0]!r}); describe it in words instead.")
    for order in _ORDERS:
        if found := order.search(text):
            raise GuardError(
                f"The {what} gives the model an order ({found[0]!r}); "
                "say what the tool returns and let the client decide."
            )


def check_characters(text: str, *, what: str) -> None:
    """Refuse invisible characters: controls, zero-width, bidirectional and tag characters.

    :raises GuardError: names the first such character.
    """
    for character in text:
        if character == "\n":
            continue
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or (
            character in _BLANK_LETTERS
        ):
            raise GuardError(
                f"The {what} holds the invisible character U+{ord(character):04X}; remove it."
            )


#: Letters and marks that show nothing: Hangul fillers, braille blank, variation selectors.
_BLANK_LETTERS: Final = frozenset(
    map(
        chr,
        (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    )
)
