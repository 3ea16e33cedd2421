"""What must hold of every answer of a tool, whatever it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from jsonschema import Draft202012Validator

from eagle_rag_core.api.tools import listed_tool, to_tool_result
from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.plugins import ToolSpec

#: Of another program, another machine or another library than the caller's.
_FOREIGN = re.compile(
    r"Traceback|site-packages|\.py\b|sqlalchemy|sqlite3|psycopg|pydantic|"
    r"(?:postgresql|redis|sqlite)(?:\+\w+)?://|errors\.pydantic\.dev|0x[0-9a-f]{8}"
)
ERROR_FIELDS = {"error": str, "code": str, "retryable": bool, "retry_after_s": float}


class WireCheck:
    """Checks answers of one tool.

    :param secrets: what no answer may hold: folders of the server, credentials.
    """

    def __init__(self, spec: ToolSpec, secrets: Iterable[str], *, max_tokens: int = 20_000) -> None:
        self._spec = spec
        self._secrets = tuple(secrets)
        self._max_tokens = max_tokens
        self._listed = Draft202012Validator(listed_tool(spec).output_schema or {})
        self._whole = Draft202012Validator(spec.output_schema)

    def check(self, outcome: CallOutcome, given: object = None) -> None:
        """
        :param given: the arguments, parts of which an error may repeat.
        :raises AssertionError: something does not hold.
        """
        result = to_tool_result(outcome)
        structured = result.structured_content
        text = result.content[0].text  # type: ignore[union-attr]
        assert structured is not None and result.is_error == outcome.is_error
        assert json.loads(text) == outcome.payload, "the text block says the same"
        unwrapped = structured["result"] if self._spec.wraps_list else structured
        assert unwrapped == outcome.payload
        self._listed.validate(structured)
        if not outcome.is_error:
            self._whole.validate(structured)
        else:
            self._check_error(outcome)
        assert estimate_json_tokens(outcome.payload) <= self._max_tokens
        assert not [secret for secret in self._secrets if secret in text], text[:500]
        if outcome.is_error and given is not None:
            self._check_text(str(outcome.error["error"]), json.dumps(given, ensure_ascii=False))

    def _check_error(self, outcome: CallOutcome) -> None:
        assert isinstance(outcome.payload, list) == self._spec.wraps_list
        error: dict[str, Any] = outcome.error
        assert set(error) == set(ERROR_FIELDS), error
        for key, kind in ERROR_FIELDS.items():
            assert isinstance(error[key], kind), error
        assert error["code"] in {str(code) for code in ErrorCode}
        assert error["error"].isprintable() or "\n" not in error["error"], "one line"

    def _check_text(self, text: str, given: str) -> None:
        found = _FOREIGN.search(text)
        assert found is None or found[0] in given, text
