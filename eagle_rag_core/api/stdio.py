"""MCP over stdio: one JSON-RPC message a line, and an answer to every line that is none.

The SDK's transport reads lines of any length into memory, and drops what it cannot read without
a word, so that a client waits for an answer that never comes.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from typing import Any, BinaryIO, Final

import anyio
from anyio.abc import ObjectSendStream
from fastmcp.server.context import reset_transport, set_transport
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from eagle_rag_core.api.frozen_server import FrozenServer
from eagle_rag_core.api.standard_streams import StandardStreams

_LOG = logging.getLogger(__name__)

#: Bytes of a line where no setting says otherwise.
MAX_LINE: Final = 4 * 1024 * 1024
#: Bytes of a refused line that are looked at for its id.
_LOOKED_AT: Final = 64 * 1024
#: Strings, also ones without an end, marks, and whatever else there is between them.
_TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{}:,]|[^][{}:,"\s]+', re.DOTALL)


class NoMessage(Exception):
    """A line that is no JSON-RPC message.

    :ivar answer: what JSON-RPC has for it.
    """

    def __init__(self, line: bytes, code: int, reason: str) -> None:
        super().__init__(reason)
        error = ErrorData(code=code, message=reason)
        self.answer = JSONRPCError(jsonrpc="2.0", id=_id_of(line), error=error)


def read_message(stream: BinaryIO, most: int = MAX_LINE) -> JSONRPCMessage | None:
    """Wait for the next message; blank lines are passed over. ``None`` at the end.

    :param most: bytes of a message.
    :raises NoMessage: the next line is something else; the one after it can be read.
    """
    while line := stream.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            _skip_line(stream)
            raise NoMessage(line, INVALID_REQUEST, f"A message has at most {most} bytes.")
        if line.strip():
            return _message_in(line)
    return None


def _skip_line(stream: BinaryIO) -> None:
    while (part := stream.readline(MAX_LINE)) and not part.endswith(b"\n"):
        continue


def _message_in(line: bytes) -> JSONRPCMessage:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if any(fault["type"] == "json_invalid" for fault in error.errors(include_input=False)):
            reason = "A message is a line of JSON: valid UTF-8, no lone surrogates, not too deep."
            raise NoMessage(line, PARSE_ERROR, reason) from None
        raise NoMessage(line, INVALID_REQUEST, "This is no JSON-RPC 2.0 message.") from None
    # Models of notifications overlook an id that is neither a string nor an integer.
    if isinstance(message, JSONRPCNotification) and _id_token(line) is not None:
        raise NoMessage(line, INVALID_REQUEST, "An id is a string or an integer.")
    return message


def _id_of(line: bytes) -> RequestId | None:
    """The id of a line that cannot be read as a whole: its sender learns what was refused."""
    try:
        found = json.loads(_id_token(line) or b"null")
        str(found).encode()  # a string with lone surrogates cannot be sent back
    except ValueError:
        return None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _id_token(line: bytes) -> bytes | None:
    """What stands behind ``"id":`` in the outermost object; only its first token."""
    depth, key, last = 0, b"", b""
    for match in _TOKENS.finditer(line[:_LOOKED_AT]):
        token = match.group()
        if depth == 1 and key == b'"id"' and last == b":":
            return token
        depth += (token in (b"{", b"[")) - (token in (b"}", b"]"))
        key, last = last, token
    return None


async def serve_streams(
    server: FrozenServer, streams: StandardStreams, most: int = MAX_LINE
) -> None:
    """Serve one client until its requests end.

    :param most: bytes of a message.
    """
    protocol: Any = server._mcp_server
    requests, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, sent = anyio.create_memory_object_stream[SessionMessage]()

    async def read() -> None:
        refusals = answers.clone()
        async with requests, refusals:
            while await _pass_on(streams.requests, most, requests, refusals):
                continue

    async def write() -> None:
        async with sent:
            async for answer in sent:
                text = answer.message.model_dump_json(by_alias=True, exclude_unset=True)
                # A client that closed its end is gone; it closes the other one, too.
                with suppress(BrokenPipeError):
                    await anyio.to_thread.run_sync(_send, streams.answers, text.encode() + b"\n")

    token = set_transport("stdio")
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            await protocol.run(received, answers, protocol.create_initialization_options())
    finally:
        reset_transport(token)


async def _pass_on(
    stream: BinaryIO,
    most: int,
    requests: ObjectSendStream[SessionMessage | Exception],
    refusals: ObjectSendStream[SessionMessage],
) -> bool:
    """Read a line and send it where it belongs; whether there may be another."""
    try:
        message = await anyio.to_thread.run_sync(read_message, stream, most)
    except NoMessage as error:
        _LOG.warning("Refused a line on stdin: %s", error)
        await refusals.send(SessionMessage(error.answer))
        return True
    if message is None:
        return False
    await requests.send(SessionMessage(message))
    return True


def _send(stream: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]
