"""Things that have no place in a description: links, markup, role markers, paths, encoded text."""

from __future__ import annotations

from typing import Final

from eagle_rag_core.plugins.guard_rules import TextRule

_TAGS: Final = (
    "a|applet|audio|b|base|body|br|button|details|div|embed|form|frame|h[1-6]|head|html|i|iframe|"
    "img|input|link|meta|object|p|script|span|style|svg|table|video|important|system|instructions?|"
    "secret|admin|assistant|user|human|tools?|function|prompt|context|rules?|note|hidden"
)
_DOMAINS: Final = "com|org|net|io|dev|ai|app|info|co|cn|ru|de|fr|uk|eu|me|xyz|site|cloud"

PAYLOADS: Final = (
    TextRule(
        "text-link",
        "holds a link",
        "describe it in words instead",
        (
            r"\b[a-z][a-z0-9+.-]{0,20}://",
            r"\bwww\.",
            r"!?\[[^\]]{0,200}\]\(",
            r"\b(?:data|javascript|mailto|file|vbscript):\S",
            r"[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,}",
            rf"\b[a-z0-9-]{{2,63}}\.(?:{_DOMAINS})\b(?:/|(?= ?[,;:.)]|$| (?:or|and|for|with)\b))",
        ),
    ),
    TextRule(
        "text-markup",
        "holds markup",
        "write plain sentences",
        (rf"</?\s?(?:{_TAGS})\b[^<>]{{0,200}}>?", r"<!--", r"<!\[cdata"),
    ),
    TextRule(
        "text-role",
        "imitates a message of a conversation",
        "leave the marker out",
        (
            r"(?:^|[\n.!?] ?)(?:system|assistant|human|ai|developer)\s?:(?!:)",
            r"^user\s?:",
            r"\n\s?user\s?:",
            r"\[/?inst\]|<<\s?/?sys\s?>>|<\|[a-z_]{2,20}\|>|\[/?system\]",
            r"(?:^|\n)\s?#{1,6} ?(?:system|instructions?|task|rules?|prompt|user|assistant)\b",
            r"\b(?:begin|end) (?:of )?(?:system|prompt|instructions?)\b",
        ),
    ),
    TextRule(
        "text-path",
        "names a place on someone's machine",
        "describe the value in words instead",
        (
            r"(?:^|[\s\"'(=])~/",
            r"(?:^|[\s\"'(=])/(?:etc|proc|root|home|users|var|dev)/",
            r"\b[a-z]:\\",
            r"(?<!\w)\.(?:ssh|aws|gnupg|kube|netrc|pgpass|env)\b|\bid_(?:rsa|ed25519)\b",
            r"\$\{?(?:home|path|[a-z_]{0,30}(?:key|token|secret|password))\b|%userprofile%",
        ),
    ),
)

#: On the text as it is written: case tells encoded data from words.
_BLOBS: Final = (
    r"(?=[A-Za-z0-9+/_-]{0,60}[0-9])(?=[A-Za-z0-9+/_-]{0,60}[A-Z])[A-Za-z0-9+/_-]{40,}={0,2}",
    r"[A-Za-z0-9+/]{24,}={1,2}(?![A-Za-z0-9=])",
    r"\b[0-9a-fA-F]{40,}\b",
    r"(?:%[0-9a-fA-F]{2}){6,}",
    r"(?:\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})){3,}",
    r"(?:&#x?[0-9a-fA-F]{2,6};){3,}",
    r"[!-~]{120,}",
    r"(?:(?<![A-Za-z])[A-Za-z][ ._-]){6,}",
)
BLOB: Final = TextRule(
    "text-blob",
    "holds encoded or spelled-out text",
    "write words, or a short example",
    _BLOBS,
    folded=False,
)
