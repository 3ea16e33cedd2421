"""Source code: definitions as sections with line numbers, in many languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_document

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.source_code import SourceCodeParser
from eagle_rag_core.types import ParsedDocument

PARSER = SourceCodeParser()

PYTHON = '''\
"""Doc.

class InDocstring:
    pass
"""

import os



@deco("/path")
# about A
class A(Base):
    """Doc."""

    async def run(self,
                  a: int = len("(")):
        def inner(): ...
        class Local: ...
        return 1

    @property
    def size(self) -> int: return 2

def top(): pass

if __name__ == "__main__":
    top()
'''

TYPESCRIPT = """\
/* class Hidden { */
export default class Store<T> extends Base {
  private async load(key: string): Promise<void> {
    if (key) { return; }
    items.forEach((item) => { use(item) })
  }
  get name() { return 1 }
}
export const handler = async (request: Request,
    response: Response) => {
  const inner = () => 1
}
describe("class Suite {", () => {
})
function* walk<T>(a) {}
interface Options { a: string }
type Alias = string
"""

C = """\
#include <stdio.h>
struct point {
  int x;
};
/* Makes one. */
struct point *make(int a,
                   int b)
{
  for (int i = 0; i < 1; i++) { use(i); }
  return 0;
}
static int main(int argc, char **argv) {
  if (argc) {
  }
}
int declared(int x);
"""


def parse(source: str, name: str) -> ParsedDocument:
    document = PARSER.parse(source.encode(), name)
    check_document(document)
    return document


def outline(source: str, name: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in parse(source, name).headings]


def test_python() -> None:
    document = parse(PYTHON, "a.py")
    assert outline(PYTHON, "a.py") == [
        (1, "class A (lines 11-23)"),
        (2, "def run (lines 16-20)"),
        (2, "def size (lines 22-23)"),
        (1, "def top (lines 25-28)"),
    ]
    assert document.text == PYTHON.rstrip("\n")
    assert document.text[document.headings[0].start :].startswith(
        '@deco("/path")\n# about A\nclass A'
    )
    assert document.media_type == "text/x-python"
    assert document.metadata == {"programming_language": "python"}


def test_line_numbers_are_those_of_the_file() -> None:
    source = "\r\n\n\n\n\n\x0c\ndef far():\n    pass\n"
    document = parse(source, "a.py")
    assert document.headings[0].title == "def far (lines 7-8)"
    assert document.text.split("\n")[6] == "def far():"


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.ts",
            TYPESCRIPT,
            [
                (1, "class Store<T> (lines 1-8)"),
                (2, "load (lines 3-6)"),
                (2, "name (lines 7-8)"),
                (1, "const handler (lines 9-14)"),
                (1, "function* walk (lines 15-15)"),
                (1, "interface Options (lines 16-16)"),
                (1, "type Alias (lines 17-17)"),
            ],
        ),
        (
            "a.c",
            C,
            [
                (1, "struct point (lines 2-4)"),
                (1, "make (lines 5-11)"),
                (1, "main (lines 12-16)"),
            ],
        ),
        (
            "a.go",
            "package x\n\ntype S struct {\n}\n\n// Serve.\nfunc (s *S) Serve(a int) error {\n}\n",
            [(1, "type S (lines 3-4)"), (1, "func (s *S) Serve (lines 6-8)")],
        ),
        (
            "A.java",
            "package x;\n\npublic final class A extends B {\n  @Override\n"
            "  public List<String> get(int a) throws E {\n    while (x) {\n    }\n  }\n}\n",
            [(1, "class A (lines 3-9)"), (2, "get (lines 4-9)")],
        ),
        (
            "a.rs",
            "pub struct P { x: i32 }\nimpl<'a> Foo for P {\n    pub fn go<T>(&self) {}\n}\n",
            [
                (1, "struct P (lines 1-1)"),
                (1, "impl<'a> Foo for P (lines 2-4)"),
                (2, "fn go (lines 3-4)"),
            ],
        ),
        (
            "a.rb",
            "module M\n  class A < B\n    def self.go?\n    end\n  end\nend\n",
            [
                (1, "module M (lines 1-6)"),
                (2, "class A (lines 2-6)"),
                (3, "def self.go? (lines 3-6)"),
            ],
        ),
        (
            "a.cs",
            "namespace N\n{\n    public class A : B\n    {\n        public int Get(string x)\n"
            "        {\n            return 1;\n        }\n    }\n}\n",
            [
                (1, "namespace N (lines 1-10)"),
                (2, "class A (lines 3-10)"),
                (3, "Get (lines 5-10)"),
            ],
        ),
        (
            "a.kt",
            "data class A(val x: Int)\nclass B {\n  override fun go(): Int = 1\n}\n",
            [
                (1, "class A (lines 1-1)"),
                (1, "class B (lines 2-4)"),
                (2, "fun go (lines 3-4)"),
            ],
        ),
        (
            "a.sql",
            "-- the table\nCREATE TABLE IF NOT EXISTS shop.orders (\n id int\n);\n"
            "/*\ncreate view no as\n*/\ncreate or replace view v as select 1;",
            [
                (1, "CREATE TABLE IF NOT EXISTS shop.orders (lines 1-4)"),
                (1, "create or replace view v (lines 5-8)"),
            ],
        ),
        ("a.sh", "#!/bin/sh\nfoo() {\n echo\n}\n", [(1, "foo (lines 1-4)")]),
        ("run", "#!/usr/bin/env python3\ndef go():\n  pass\n", [(1, "def go (lines 1-3)")]),
        (
            "a.toml",
            '# about\n[project]\nname = "x"\n[[tool.x]]\na = [1]\n',
            [(1, "project (lines 1-3)"), (1, "tool.x (lines 4-5)")],
        ),
        ("a.ini", "[main]\n; note\na=1\n", [(1, "main (lines 1-3)")]),
        (
            "a.tf",
            'resource "aws_x" "main" {\n}\n',
            [(1, 'resource "aws_x" "main" (lines 1-2)')],
        ),
        (
            "a.lua",
            "--[[\nfunction no()\n]]\nlocal function go()\nend\n",
            [(1, "function go (lines 1-5)")],
        ),
        (
            "a.php",
            "<?php\nclass A {\n  public static function go() {\n  }\n}\n",
            [(1, "class A (lines 2-5)"), (2, "function go (lines 3-5)")],
        ),
        ("a.js", "const x = 1\nfoo(bar)\n", []),
    ],
)
def test_languages(name: str, source: str, expected: list[tuple[int, str]]) -> None:
    assert outline(source, name) == expected


def test_a_docstring_belongs_to_what_stands_above_it() -> None:
    source = 'class A:\n    """Doc\n    of A.\n    """\n    def run(self):\n        pass\n'
    assert outline(source, "a.py") == [(1, "class A (lines 1-6)"), (2, "def run (lines 5-6)")]


def test_code_that_does_not_compile_is_read() -> None:
    assert outline("def a(:\n  (((\nclass B:\n  def c(self:\n", "a.py") != []


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["a.ts", "a.py", "a.sql"])
@pytest.mark.parametrize(
    "source",
    [
        *("a" + "*" * 100_000, ("f(" * 200 + "\n") * 2_000, "class " * 20_000, "`a\n" * 20_000),
        *(("a b c d e f g h " * 20 + "(\n") * 300, ("(" * 390 + "\n") * 300, '"""' * 20_000),
        *("def " + "a." * 180 + "\n", "/*" * 100_000, "'\n" * 20_000, "const a: " + "b" * 380),
    ],
    ids=range(11),
)
def test_no_source_makes_the_reader_slow(name: str, source: str) -> None:
    assert parse(f"word\n{source}", name).text.startswith("word")


@given(st.text(st.sampled_from("classdef fn(){}[]\"'`/*#\n\t=>:;@.xy1"), max_size=200))
def test_any_code_is_read_or_empty(source: str) -> None:
    for name in ("a.py", "a.ts", "a.sql", "a.toml"):
        try:
            parse(source, name)
        except IngestError as error:
            assert error.message
