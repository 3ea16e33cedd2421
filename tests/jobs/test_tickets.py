"""What a broker carries is checked when it comes."""

from __future__ import annotations

from typing import Any

import pytest

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.jobs.celery_app import CelerySender, check_broker
from eagle_rag_core.jobs.tickets import Ticket

GOOD = {"job_id": "a" * 32, "namespace": "core", "fingerprint": "b" * 32}


def test_a_ticket_survives_its_journey() -> None:
    ticket = Ticket("a" * 32, "core", "b" * 32)
    assert Ticket.of((), ticket.as_dict()) == ticket


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"job_id": "a" * 32},
        {**GOOD, "more": "x"},
        {**GOOD, "job_id": "../../etc"},
        {**GOOD, "job_id": 7},
        {**GOOD, "job_id": ["a" * 32]},
        {**GOOD, "namespace": "Core; drop"},
        {**GOOD, "namespace": ""},
        {**GOOD, "fingerprint": "b" * 33},
        {**GOOD, "fingerprint": None},
    ],
)
def test_anything_else_is_no_ticket(values: dict[str, Any]) -> None:
    assert Ticket.of((), values) is None


def test_positional_arguments_make_no_ticket() -> None:
    assert Ticket.of(("a" * 32,), GOOD) is None


@pytest.mark.parametrize("url", ["amqp://guest@localhost", "sqla+sqlite:///x.db", "memory://"])
def test_only_redis_is_a_broker(url: str) -> None:
    with pytest.raises(ConfigError):
        check_broker(url)


def test_a_broker_that_is_away_is_no_reason_to_fail_at_the_start() -> None:
    CelerySender("redis://127.0.0.1:1/0", "core", "b" * 32).close()
