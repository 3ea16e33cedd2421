"""Scenarios of the official suite that cannot apply, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAMES: Final = (
    "It calls fixtures by names of its own; tools are named by what they read, and packs "
    "contribute neither prompts nor resources."
)
ASKS: Final = "Its tool asks the client for something; no tool here ever does."
LOGS: Final = "Logging to clients is deprecated; the server has a log of its own."
SUBSCRIBES: Final = "What is served is fixed at the start, and there is nothing to subscribe to."
RESUMES: Final = "Answers are not kept, so that any replica may give them; none is resumed."

#: No server of ours passes these.
EVERYWHERE: Final[Mapping[str, str]] = {
    "tools-call-with-logging": LOGS,
    "tools-call-sampling": ASKS,
    "tools-call-elicitation": ASKS,
    "elicitation-sep1034-defaults": ASKS,
    "elicitation-sep1330-enums": ASKS,
    "server-sse-polling": RESUMES,
    "resources-subscribe": SUBSCRIBES,
    "resources-unsubscribe": SUBSCRIBES,
    "input-required-result-basic-elicitation": ASKS,
    "input-required-result-basic-sampling": ASKS,
    "input-required-result-basic-list-roots": ASKS,
    "input-required-result-request-state": ASKS,
    "input-required-result-multiple-input-requests": ASKS,
    "input-required-result-multi-round": ASKS,
    "input-required-result-non-tool-request": ASKS,
    "input-required-result-result-type": ASKS,
    "input-required-result-tampered-state": ASKS,
    "input-required-result-capability-check": ASKS,
}
#: Of these scenarios some checks cannot apply.
CHECKS: Final[Mapping[str, frozenset[str]]] = {
    # Both are about a tool that samples.
    "server-stateless": frozenset(
        {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
    ),
}
#: The product passes these only behind its transport, with the suite's fixtures.
WITHOUT_FIXTURES: Final[Mapping[str, str]] = {
    "logging-set-level": LOGS,
    "tools-call-image": NAMES,
    "tools-call-audio": NAMES,
    "tools-call-embedded-resource": NAMES,
    "tools-call-mixed-content": NAMES,
    "tools-call-with-progress": NAMES,
    "json-schema-2020-12": NAMES,
    "resources-read-text": NAMES,
    "resources-read-binary": NAMES,
    "resources-templates-read": NAMES,
    "prompts-get-simple": NAMES,
    "prompts-get-with-args": NAMES,
    "prompts-get-embedded-resource": NAMES,
    "prompts-get-with-image": NAMES,
    "http-custom-header-server-validation": NAMES,
}
