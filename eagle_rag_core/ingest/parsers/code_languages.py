"""Programming languages by file name, and what their definitions look like.

A table of line patterns instead of a parser for each language: the patterns never run code, need
linear time, and read sources that do not compile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_NAME = r"[A-Za-z_$\u00a1-\uffff][\w$\u00a1-\uffff]*"
_DOTTED = rf"{_NAME}(?:(?:\.|::|\\){_NAME}){{0,8}}"
#: What may stand before the word that defines.
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|abstract|final|static|async|"
    r"sealed|partial|open|data|inline|override|virtual|unsafe|const|pub(?:\([^)\n]{0,40}\))?|"
    r"fileprivate|suspend|case|implicit|local|readonly|extern(?:\s+\"[^\"\n]{0,9}\")?)\s+){0,8}"
)
_CONTAINERS = (
    r"class|interface|struct|enum(?:\s+class)?|trait|impl|module|namespace|object|protocol|"
    r"extension|record|union|mod|contract|service|message|defmodule|defprotocol"
)
_FUNCTIONS = (
    r"def|defp|defmacro|function\*?|func|fun|fn|sub|proc|procedure|macro_rules!|macro|subroutine|"
    r"rpc|type"
)
#: Words in front of parentheses or braces that define nothing.
_CONTROL = (
    r"if|for|while|switch|return|else|catch|do|new|throw|case|sizeof|using|with|foreach|lock|"
    r"elif|when|until|await|yield|delete|typeof|in|not|and|or|assert|print|function|super|this"
)
_PARAMETERS = r"\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)"

#: Classes, modules and the like: what they hold are definitions of their own.
_CONTAINER: Final = (
    rf"(?P<indent>[ \t]*){_MODIFIERS}(?P<title>(?:{_CONTAINERS})\b(?:<[^>\n]{{0,80}}>)?\s+"
    rf"{_DOTTED}(?:<[^>\n]{{0,80}}>)?(?:\s+for\s+{_DOTTED})?)"
    r"(?=\s*(?:[{:(<,]|$|extends\b|implements\b|permits\b|with\b|where\b|final\b|do\b))"
)
_FUNCTION: Final = (
    rf"(?P<indent>[ \t]*){_MODIFIERS}(?P<title>(?:{_FUNCTIONS})\s+(?:\([^()\n]{{1,80}}\)\s*)?"
    rf"(?:<[^>\n]{{1,80}}>\s*)?{_DOTTED}[?!]?)"
)
#: ``name(…) {``: functions of C and methods of its relatives.
_BRACED: Final = (
    rf"(?P<indent>[ \t]*)(?!(?:{_CONTROL})\b)(?:[\w$:<>\[\],.?~@\u00a1-\uffff]++[ \t*&]++){{0,8}}?"
    rf"(?P<title>(?!(?:{_CONTROL})\b)[~\w$:\u00a1-\uffff]++)\s*{_PARAMETERS}"
    r"[^;=(){}\n]{0,120}(?:\{|(?P<opening>)$)"
)
#: ``const name = (…) =>`` and ``name = function``.
_ARROW: Final = (
    rf"(?P<indent>[ \t]*)(?:export\s+)?(?:default\s+)?(?P<title>(?:const|let|var)\s+{_NAME})"
    rf"\s*(?::[^=\n]{{1,120}})?=\s*(?:async\s*)?"
    rf"(?:function\b|{_PARAMETERS}[^=\n]{{0,80}}=>|{_NAME}\s*=>)"
)
_SQL: Final = (
    r"(?i)(?P<indent>[ \t]*)(?P<title>create\s+(?:or\s+(?:replace|alter)\s+)?"
    r"(?:(?:global|local|temp|temporary|unique|materialized|external|recursive)\s+){0,3}"
    r"(?:table|view|function|procedure|index|trigger|type|schema|sequence|database|package)\s+"
    r"(?:if\s+not\s+exists\s+)?[\w.\"`\[\]$]+)"
)
_SHELL: Final = r"(?P<indent>[ \t]*)(?P<title>[\w:.-]+)\s*\(\)\s*(?:\{|$)"
_SECTION: Final = r"(?P<indent>)\[\[?(?P<title>[^\[\]\n]{1,200})\]\]?[ \t]*(?:[#;].*)?$"
_TERRAFORM: Final = (
    r"(?P<indent>)(?P<title>(?:resource|data|module|variable|output|provider|locals)"
    r'(?:\s+"[^"\n]{1,120}"){0,2})\s*\{'
)

#: Multi-line strings and comments, in which nothing is defined.
_STRINGS = r"\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?"
_C_QUOTED: Final = rf"(?s)//[^\n]*|/\*.*?(?:\*/|\Z)|{_STRINGS}|`(?:\\.|[^`\\])*+`?"
_HASH_QUOTED: Final = rf"(?s)#[^\n]*|\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|{_STRINGS}"
_LUA_QUOTED: Final = rf"(?s)--\[\[.*?(?:\]\]|\Z)|--[^\n]*|{_STRINGS}"
_SQL_QUOTED: Final = r"(?s)--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:''|[^'])*+'?"


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of a language, ready for use; of definitions, whether they hold further ones."""

    definitions: tuple[tuple[bool, re.Pattern[str]], ...]
    quoted: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """How a language marks definitions, as regular expressions.

    :param containers: patterns of definitions that hold further ones.
    :param functions: patterns of definitions whose inside is of no further interest.
    :param quoted: its strings and comments.
    :param attached: beginnings of lines that belong to the definition below them.
    """

    name: str
    containers: tuple[str, ...]
    functions: tuple[str, ...]
    quoted: str
    attached: tuple[str, ...]


@cache
def compiled(language: Language) -> Patterns:
    """Compile the patterns of a language: all of them would cost every start a tenth second."""
    containers = ((True, re.compile(pattern)) for pattern in language.containers)
    functions = ((False, re.compile(pattern)) for pattern in language.functions)
    return Patterns((*containers, *functions), re.compile(language.quoted))


def _c_like(name: str, *functions: str) -> Language:
    attached = ("@", "#[", "//", "/*", "*", "[", "template")
    return Language(name, (_CONTAINER,), (_FUNCTION, *functions), _C_QUOTED, attached)


def _scripting(name: str) -> Language:
    return Language(name, (_CONTAINER,), (_FUNCTION,), _HASH_QUOTED, ("@", "#"))


_LANGUAGES: Final = (
    (_scripting("python"), ".py .pyi .pyw .pyx"),
    (_c_like("javascript", _ARROW, _BRACED), ".js .mjs .cjs .jsx"),
    (_c_like("typescript", _ARROW, _BRACED), ".ts .tsx .mts .cts"),
    (_c_like("java", _BRACED), ".java"),
    (_c_like("c", _BRACED), ".c .h"),
    (_c_like("cpp", _BRACED), ".cc .cpp .cxx .hh .hpp .hxx .cu .ino"),
    (_c_like("csharp", _BRACED), ".cs"),
    (_c_like("go"), ".go"),
    (_c_like("rust"), ".rs"),
    (_c_like("kotlin"), ".kt .kts"),
    (_c_like("swift"), ".swift"),
    (_c_like("scala"), ".scala .sc"),
    (_c_like("dart", _BRACED), ".dart"),
    (_c_like("groovy", _BRACED), ".groovy .gradle"),
    (_c_like("php"), ".php"),
    (_c_like("objective-c", _BRACED), ".m .mm"),
    (_c_like("zig"), ".zig"),
    (_c_like("solidity"), ".sol"),
    (_c_like("protobuf"), ".proto"),
    (_scripting("ruby"), ".rb .rake .gemspec"),
    (_scripting("perl"), ".pl .pm"),
    (_scripting("elixir"), ".ex .exs"),
    (_scripting("julia"), ".jl"),
    (_scripting("nim"), ".nim"),
    (_scripting("r"), ".r"),
    (_scripting("powershell"), ".ps1 .psm1"),
    (Language("lua", (), (_FUNCTION,), _LUA_QUOTED, ("--",)), ".lua"),
    (Language("shell", (), (_FUNCTION, _SHELL), _HASH_QUOTED, ("#",)), ".sh .bash .zsh .ksh"),
    (Language("sql", (), (_SQL,), _SQL_QUOTED, ("--", "/*", "*")), ".sql .ddl"),
    (Language("toml", (_SECTION,), (), _HASH_QUOTED, ("#",)), ".toml"),
    (Language("ini", (_SECTION,), (), _HASH_QUOTED, ("#", ";")), ".ini .cfg .conf .properties"),
    (Language("terraform", (), (_TERRAFORM,), _C_QUOTED, ("#", "//")), ".tf .hcl"),
)
_BY_SUFFIX: Final = {
    suffix: language for language, suffixes in _LANGUAGES for suffix in suffixes.split()
}
_BY_PROGRAM: Final = {
    "python": ".py",
    "node": ".js",
    "ruby": ".rb",
    "perl": ".pl",
    "sh": ".sh",
    "bash": ".sh",
    "zsh": ".sh",
    "php": ".php",
    "lua": ".lua",
    "julia": ".jl",
    "rscript": ".r",
}
_SHEBANG: Final = re.compile(
    rb"\A#![ \t]*(?:\S*/)?([A-Za-z]+)[\d.]*(?:[ \t]+(?:-\S+[ \t]+)*([A-Za-z]+))?"
)


def language_of(head: bytes, name: str) -> Language | None:
    """The language by suffix, else by the program the first line calls."""
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    match = _SHEBANG.match(head[:200])
    if not match:
        return None
    called = match[2] if match[1] == b"env" and match[2] else match[1]
    return _BY_SUFFIX.get(_BY_PROGRAM.get(called.decode("ascii").lower(), ""))
