"""Answers are cut to the budget, say so, and lose nothing silently."""

from __future__ import annotations

import copy
import json

import pytest

from eagle_rag_core.calls.budget import fit
from eagle_rag_core.errors import EagleError
from eagle_rag_core.models.token_counts import estimate_tokens


def hits(*lengths: int) -> list[dict[str, object]]:
    return [
        {"node_id": f"n{i}", "text": "x" * length, "metadata": {"page": i, "truncated": False}}
        for i, length in enumerate(lengths)
    ]


def tokens(payload: object) -> int:
    return estimate_tokens(json.dumps(payload, ensure_ascii=False, separators=(",", ":")))


def test_what_fits_is_left_alone() -> None:
    payload = hits(100, 200)
    before = copy.deepcopy(payload)
    assert fit(payload, 1000) == before


def test_only_the_longest_texts_are_cut_and_say_so() -> None:
    payload = fit(hits(300, 8000, 9000), 1500)
    assert [hit["metadata"]["truncated"] for hit in payload] == [False, True, True]
    assert len(payload[0]["text"]) == 300
    assert payload[1]["text"].endswith("…")
    assert tokens(payload) <= 1500


def test_no_item_is_dropped_and_identifiers_stay_whole() -> None:
    payload = fit(hits(*[5000] * 40), 4000)
    assert [hit["node_id"] for hit in payload] == [f"n{i}" for i in range(40)]


def test_flag_stands_beside_the_text_where_there_is_no_metadata() -> None:
    payload = fit({"answer": "y" * 9000, "sources": []}, 500)
    assert payload["truncated"] is True


def test_what_cannot_fit_is_refused_with_advice() -> None:
    with pytest.raises(EagleError, match="fewer results"):
        fit([{"node_id": "n" * 500, "text": ""} for _ in range(200)], 500)


def test_cjk_counts_about_one_token_a_character() -> None:
    assert 900 <= estimate_tokens("缓" * 1000) <= 1100
    assert 240 <= estimate_tokens("abcd" * 250) <= 260


def test_lone_surrogates_do_not_break_the_estimate() -> None:
    assert estimate_tokens("a\ud800b") > 0
