"""No secret of the deployment reaches the log, whoever writes it there, and every entry has its
trace."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.settings import load_settings
from eagle_rag_core.telemetry.logs import configure_logging
from eagle_rag_core.telemetry.redaction import Redactor, secrets_of, without_secrets
from eagle_rag_core.telemetry.tracing import new_trace, parse_traceparent, tracing

SECRETS = {
    "llm": 'llm"key\\with-ütf-8',
    "token": "tok_9bK8nHs1Tq5GcE6uWj2rXf",
    "api": "key_4fJ2pQx7Rw9LmZ0aVb3sYd",
    "database": "pa55word-of-database",
    "broker": "pa55/word of broker",
    "option": "option-of-a-pack-0123",
}


def overrides(home: Path) -> dict[str, Any]:
    return {
        "home": home,
        "models": {"llm": {"api_key": SECRETS["llm"]}},
        "auth": {
            "enabled": True,
            "api_key": SECRETS["api"],
            "tokens": [{"name": "me", "token": SECRETS["token"]}],
        },
        "database": {"url": f"postgresql://u:{SECRETS['database']}@db/x"},
        "celery": {"broker_url": "redis://:pa55%2Fword%20of%20broker@redis/0"},
        "plugins": {"options": {"some": {"service_token": SECRETS["option"]}}},
    }


@pytest.fixture(params=["console", "json"])
def lines(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    settings = load_settings(
        overrides={**overrides(tmp_path), "telemetry": {"log_format": request.param}}
    )
    configure_logging(settings)
    yield stream
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_the_secrets_of_the_settings_are_known(tmp_path: Path) -> None:
    assert set(SECRETS.values()) <= secrets_of(load_settings(overrides=overrides(tmp_path)))


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_no_log_has_a_secret_of_the_settings(lines: io.StringIO, secret: str) -> None:
    logging.getLogger("a.library").warning("cannot reach %s", {"key": secret})
    structlog.get_logger("a.pack").error("failed", key=secret, nested={"a": [secret]})
    try:
        raise ValueError(f"refused {secret}")
    except ValueError:
        logging.getLogger("b").exception("failed with %s", secret)
    written = lines.getvalue()
    assert "***" in written and "refused" in written
    for spelling in (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]):
        assert spelling not in written


@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer abcdefgh12345678",
        "authorization: basic dXNlcjpwYXNzd29yZA==",
        "postgresql://u:short@db/x",
        "https://h/x?access_token=abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmMifQ.c2lnbmF0dXJl",
    ],
)
def test_nor_what_has_the_form_of_one(lines: io.StringIO, secret: str) -> None:
    logging.getLogger("a").warning("sent %s", secret)
    written = lines.getvalue()
    assert "***" in written
    for part in ("abcdefgh12345678", "dXNlcjpwYXNzd29yZA", "short", "=abc", "eyJzdWIi"):
        assert part not in written


def test_short_secrets_do_not_blot_out_words() -> None:
    assert Redactor(["eagle"])("eagle_rag_core") == "eagle_rag_core"
    assert Redactor(["longer-secret", "longer-secret-still"])("longer-secret-still") == "***"


@given(st.text())
def test_texts_without_secrets_stay(text: str) -> None:
    if not any(mark in text.lower() for mark in ("://", "=", "bearer", "basic", "eyj")):
        assert without_secrets(text) == text


def test_entries_name_their_trace(lines: io.StringIO) -> None:
    trace = new_trace()
    with tracing(trace):
        logging.getLogger("a.library").warning("inside")
    logging.getLogger("a.library").warning("outside")
    inside, outside = lines.getvalue().splitlines()
    assert trace.trace_id in inside and trace.trace_id not in outside


def test_a_line_of_json_has_no_control_characters(lines: io.StringIO) -> None:
    logging.getLogger("a").warning("x %s", "".join(map(chr, range(0x20))) + "\x7f\x9b\u202e")
    (line,) = lines.getvalue().splitlines()
    assert all(char.isprintable() for char in line if char != "\t")
    if line.startswith("{"):
        assert json.loads(line)["event"].endswith("\x7f\x9b\u202e")


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("00-" + "a" * 32 + "-" + "b" * 16 + "-01", True),
        ("01-" + "a" * 32 + "-" + "b" * 16 + "-01-more", True),
        ("00-" + "a" * 32 + "-" + "b" * 16 + "-01-more", False),
        ("00-" + "0" * 32 + "-" + "b" * 16 + "-01", False),
        ("00-" + "a" * 32 + "-" + "0" * 16 + "-01", False),
        ("00-" + "A" * 32 + "-" + "b" * 16 + "-01", False),
        ("00-" + "a" * 32 + "-" + "b" * 16 + "-01\n", False),
        ("ff-" + "a" * 32 + "-" + "b" * 16 + "-01", False),
        ("01-" + "a" * 32 + "-" + "b" * 16 + "-01-" + "x" * 300, False),
        (None, False),
    ],
)
def test_traceparent_is_read_as_the_standard_says(text: Any, valid: bool) -> None:
    trace = parse_traceparent(text)
    assert (trace is not None) == valid
    if trace is not None:
        assert (trace.trace_id, trace.parent_id, trace.sampled) == ("a" * 32, "b" * 16, True)
