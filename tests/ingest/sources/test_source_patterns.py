from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.ingest.sources.patterns import JUNK, PatternList, Selection


@pytest.mark.parametrize(
    ("pattern", "chosen", "not_chosen"),
    [
        ("*.pdf", ["a.pdf", "x/y/a.pdf"], ["a.pdf.txt", "apdf", "a.PDF"]),
        ("/a.md", ["a.md"], ["x/a.md"]),
        ("docs/a.md", ["docs/a.md"], ["x/docs/a.md"]),
        ("docs/*.md", ["docs/a.md"], ["docs/x/a.md"]),
        ("**/a.md", ["a.md", "x/a.md", "x/y/a.md"], ["xa.md"]),
        ("docs/**", ["docs/a", "docs/x/a"], ["docs", "xdocs/a"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("[a-c].md", ["a.md", "c.md"], ["d.md", "-.md"]),
        ("[!a].md", ["b.md"], ["a.md", "/.md"]),
        ("[^a].md", ["b.md"], ["a.md"]),
        ("[]x].md", ["].md", "x.md"], ["a.md"]),
        (r"\*.md", ["*.md"], ["a.md"]),
        (r"\#x", ["#x"], ["x"]),
        (r"\!x", ["!x"], ["x"]),
        ("#x", [], ["#x", "x"]),
        ("", [], ["", "x"]),
        ("a.b", ["a.b"], ["axb"]),
        ("x  ", ["x"], ["x  "]),
        (r"x\ ", ["x "], ["x"]),
        ("(a|b)+", ["(a|b)+"], ["a", "b"]),
        ("日本*", ["日本語.md"], ["語.md"]),
        ("a\nb", ["a\nb"], ["a"]),
    ],
)
def test_patterns_mean_what_gitignore_says(
    pattern: str, chosen: list[str], not_chosen: list[str]
) -> None:
    patterns = PatternList([pattern])
    assert [path for path in chosen if not patterns.matches(path)] == []
    assert [path for path in not_chosen if patterns.matches(path)] == []


def test_a_final_slash_means_folders_and_what_is_in_them() -> None:
    patterns = PatternList(["build/"])
    assert patterns.matches("build", folder=True)
    assert not patterns.matches("build")
    assert patterns.matches_within("build/a.md") and patterns.matches_within("x/build/y/a.md")


def test_the_last_pattern_that_matches_decides() -> None:
    patterns = PatternList(["*.md", "!keep.md", "/old/*.md"])
    assert patterns.matches("a.md") and patterns.matches("old/keep.md")
    assert not patterns.matches("keep.md") and not patterns.matches("new/keep.md")


@pytest.mark.parametrize("pattern", ["[z-a]", "[!]", "x" * 1001])
def test_a_malformed_pattern_is_named(pattern: str) -> None:
    with pytest.raises(InvalidArgument):
        PatternList([pattern])


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_line_is_a_pattern_or_refused(pattern: str, path: str) -> None:
    try:
        patterns = PatternList([pattern])
    except InvalidArgument:
        return
    assert isinstance(patterns.matches(path), bool)


class TestSelection:
    def test_everything_but_junk_is_taken(self) -> None:
        selection = Selection(ignored=JUNK)
        taken = ["a.md", "x/y.pdf", "My Report.docx", "a.tmp.md"]
        left = [
            ".env",
            "x/.git/config",
            ".hidden/a.md",
            "~$Report.docx",
            "a.md~",
            "x/Thumbs.db",
            "__pycache__/a.md",
            "node_modules/x/README.md",
            "film.part",
        ]
        assert [path for path in taken if not selection.takes(path)] == []
        assert [path for path in left if selection.takes(path)] == []

    def test_ignore_rules_can_bring_junk_back(self) -> None:
        selection = Selection(ignored=(*JUNK, "!.github/", "drafts/"))
        assert selection.takes(".github/README.md")
        assert not selection.takes("drafts/a.md") and not selection.enters("drafts")

    def test_include_needs_one_match_and_exclude_wins(self) -> None:
        selection = Selection(include=("*.md", "*.pdf"), exclude=("old/",))
        assert selection.takes("a.md") and selection.takes("x/a.pdf")
        assert not selection.takes("a.txt") and not selection.takes("old/a.md")
        assert selection.enters("x") and not selection.enters("old")

    def test_an_included_folder_includes_what_is_in_it(self) -> None:
        selection = Selection(include=("handbook/",))
        assert selection.takes("handbook/x/a.md") and not selection.takes("a.md")
