"""One message: header fields, the text to read, and what is attached to it.

Sources: RFC 5322 (messages), RFC 2045 to 2049 (MIME), RFC 2046 section 5.1.4 (alternatives).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

from eagle_rag_core.ingest.parsers.charset import decode
from eagle_rag_core.ingest.parsers.normalise import one_line

logger = logging.getLogger(__name__)

#: Parts of parts; real messages have five levels, hostile ones thousands.
MAX_PARTS_DEPTH = 30
_MAX_HEADER = 2_000


class NestedTooDeep(Exception):
    """The parts of a message lie more than :data:`MAX_PARTS_DEPTH` levels deep."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside of a message."""

    name: str
    data: bytes


def read_message(data: bytes) -> EmailMessage:
    """The message in its parts.

    :raises NestedTooDeep: see there.
    """
    try:
        message = message_from_bytes(data, policy=policy.default)
        assert isinstance(message, EmailMessage)  # what that policy makes
        _check_depth(message)
    except RecursionError as error:
        raise NestedTooDeep from error
    return message


def header(message: EmailMessage, name: str) -> str:
    """A header field decoded on one line, "" when it is missing."""
    try:
        value = str(message.get(name, ""))
    except Exception:
        # The header parser of the standard library stumbles over malformed fields in a dozen
        # ways; the field as it stands is still readable.
        logger.info("the header %s of a message is malformed", name)
        raw = (value for key, value in message.raw_items() if key.lower() == name.lower())
        value = next((str(one) for one in raw), "")
    return one_line(value)[:_MAX_HEADER]


def date_of(message: EmailMessage) -> datetime | None:
    """When the message was sent."""
    try:
        return parsedate_to_datetime(header(message, "Date"))
    except (TypeError, ValueError, OverflowError):
        return None


def body_part(message: EmailMessage) -> EmailMessage | None:
    """The part to read: plain text if there is any, else HTML."""
    candidates = [part for part in _leaves(message) if not _is_attached(part)]
    for kind in ("text/plain", "text/html"):
        for part in candidates:
            if part.get_content_type() == kind and part_bytes(part).strip():
                return part
    return None


def attachments(message: EmailMessage) -> Iterator[Attachment]:
    """The files and messages attached, in order. Pictures that a page shows are left out."""
    for part in _leaves(message):
        name = _file_name(part)
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            enclosed = inner[0] if isinstance(inner, list) and inner else None
            if isinstance(enclosed, EmailMessage):
                title = name or header(enclosed, "Subject") or "message"
                yield Attachment(f"{title.removesuffix('.eml')}.eml", _source(enclosed))
        elif name and not (part.get("Content-ID") and part.get_content_maintype() == "image"):
            yield Attachment(name, part_bytes(part))


def part_bytes(part: EmailMessage) -> bytes:
    """The content of a part as it was before it was sent."""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def part_text(part: EmailMessage) -> str:
    """The content of a text part; the charset it names is believed when it fits."""
    return decode(part_bytes(part), part.get_content_charset("")) or ""


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts that are no containers; an attached message counts as one part."""
    if message.get_content_maintype() != "multipart":
        yield message
        return
    parts = message.get_payload()
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, EmailMessage):
            yield from _leaves(part)


def _is_attached(part: EmailMessage) -> bool:
    disposition = part.get_content_disposition()
    return disposition == "attachment" or bool(disposition and _file_name(part))


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename("") or ""
    except Exception:
        logger.info("the name of an attachment is malformed")
        return "attachment"
    # Only the name: what the sender's folders were called is nobody's business.
    return one_line(name.replace("\\", "/").rpartition("/")[2])[:255]


def _source(message: EmailMessage) -> bytes:
    try:
        return message.as_bytes()
    except (MessageError, ValueError, LookupError, AttributeError, TypeError):
        logger.info("an attached message cannot be taken out")
        return b""


def _check_depth(message: EmailMessage) -> None:
    level = [message]
    for _ in range(MAX_PARTS_DEPTH):
        level = [
            part
            for outer in level
            if isinstance(parts := outer.get_payload(), list)
            for part in parts
            if isinstance(part, EmailMessage)
        ]
        if not level:
            return
    raise NestedTooDeep
