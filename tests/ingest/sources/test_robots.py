from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.ingest.sources.robots import MAX_BYTES, Robots, parse_robots


def rules(text: str) -> Robots:
    return parse_robots(text.encode(), "eagle-rag")


@pytest.mark.parametrize(
    ("text", "allowed", "refused"),
    [
        ("", ["/", "/a"], []),
        ("User-agent: *\nDisallow: /", [], ["/", "/a?b"]),
        ("User-agent: *\nDisallow:", ["/", "/a"], []),
        ("User-agent: *\nDisallow: /private", ["/", "/priv"], ["/private", "/private/x"]),
        ("User-agent: *\nDisallow: /a/\nAllow: /a/b", ["/a/b/c", "/x"], ["/a/c"]),
        ("User-agent: *\nAllow: /a\nDisallow: /a", ["/a"], []),
        ("User-agent: *\nDisallow: /*.pdf$", ["/a.pdf?x", "/a"], ["/a.pdf", "/x/b.pdf"]),
        ("User-agent: *\nDisallow: /*?", ["/a"], ["/a?b=1"]),
        ("User-agent: *\nDisallow: /a*b*c", ["/ab", "/acb"], ["/abc", "/axxbxxcxx"]),
        ("User-agent: *\nDisallow: /fish$", ["/fishes"], ["/fish"]),
        ("User-agent: *\nDisallow: /%E6%97%A5", ["/x"], ["/%E6%97%A5%E6%9C%AC", "/日本"]),
        ("User-agent: *\nDisallow: /a%2Fb", ["/a/b"], ["/a%2Fb"]),
        ("user-AGENT : *\n disallow : /a # why\n", ["/b"], ["/a"]),
        ("User-agent: other\nDisallow: /", ["/a"], []),
        ("User-agent: eagle-rag\nDisallow: /a\n\nUser-agent: *\nDisallow: /", ["/b"], ["/a"]),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Eagle-RAG/1.0\nDisallow: /a", ["/b"], ["/a"]),
        ("User-agent: x\nUser-agent: eagle-rag\nDisallow: /a", ["/b"], ["/a"]),
        (
            "User-agent: eagle-rag\nDisallow: /a\nUser-agent: *\nDisallow: /c\n"
            "User-agent: eagle-rag\nDisallow: /b",
            ["/c"],
            ["/a", "/b"],
        ),
        ("User-agent: *\nSitemap: https://example.com/s.xml\nDisallow: /a", ["/b"], ["/a"]),
        ("Disallow: /\nUser-agent: *\nDisallow: /a", ["/b"], ["/a"]),
        ("\N{ZERO WIDTH NO-BREAK SPACE}User-agent: *\nDisallow: /a", ["/b"], ["/a"]),
        ("User-agent: *\r\nDisallow: /a\r\n", ["/b"], ["/a"]),
        ("<html>404</html>", ["/a"], []),
    ],
)
def test_rules_are_read_as_rfc_9309_says(text: str, allowed: list[str], refused: list[str]) -> None:
    robots = rules(text)
    assert [target for target in allowed if not robots.allows(target)] == []
    assert [target for target in refused if robots.allows(target)] == []


@pytest.mark.parametrize(
    ("value", "delay"), [("2", 2), ("0.5", 0.5), ("9999", 60), ("-1", 0), ("soon", 0), ("", 0)]
)
def test_the_delay_between_requests_is_bounded(value: str, delay: float) -> None:
    assert rules(f"User-agent: *\nCrawl-delay: {value}").delay == delay


def test_what_comes_after_the_limit_is_not_read() -> None:
    text = "User-agent: *\n" + "#" * MAX_BYTES + "\nDisallow: /"
    assert rules(text).allows("/a")


def test_many_wildcards_are_no_trap() -> None:
    robots = rules("User-agent: *\nDisallow: /" + "*a" * 500 + "$")
    assert robots.allows("/" + "a" * 499 + "b" * 5000)
    assert not robots.allows("/" + "a" * 5000)


@given(st.binary(max_size=300), st.text(max_size=50))
def test_any_file_gives_rules(data: bytes, target: str) -> None:
    assert isinstance(parse_robots(data, "eagle-rag").allows("/" + target), bool)
