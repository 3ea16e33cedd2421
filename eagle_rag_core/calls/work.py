"""A piece of work that goes through the pipeline without being a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work of a face, such as the deletion of a document over REST.

    :param operation: names it in errors, in the call log and in metrics: ``delete_document``.
    :param arguments: for the call log; not passed to ``run``.
    :param run: synchronous; finds its caller with ``current_caller()`` and its end with
        ``current_deadline()``. What it returns is the payload of the outcome.
    :param timeout: seconds it may take; 0 for ``mcp.tool_timeout``.
    :param reads: changes nothing, so that it may be tried again after a transient failure.
    """

    operation: str
    arguments: Mapping[str, Any]
    run: Callable[[], Any]
    timeout: float = 0.0
    reads: bool = True
