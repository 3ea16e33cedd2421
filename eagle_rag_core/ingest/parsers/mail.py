"""E-mail: messages (.eml), saved pages (.mht) and mailboxes (.mbox), with what is attached."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.charset import looks_binary
from eagle_rag_core.ingest.parsers.choice import HEAD_BYTES, best_parser
from eagle_rag_core.ingest.parsers.declared import fields, keywords
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.html_blocks import read_blocks, write_blocks
from eagle_rag_core.ingest.parsers.html_tree import read_tree
from eagle_rag_core.ingest.parsers.mail_message import (
    MAX_PARTS_DEPTH,
    Attachment,
    NestedTooDeep,
    attachments,
    body_part,
    date_of,
    header,
    part_bytes,
    part_text,
    read_message,
)
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.types.documents import ParsedDocument
from eagle_rag_core.types.extensions import Parser

logger = logging.getLogger(__name__)

#: Messages inside of messages that are read; deeper ones are named only.
MAX_NESTED = 3
#: How messages without a subject are called.
NO_SUBJECT = "(no subject)"
#: Lines in which the fields that make a message are looked for.
MAX_HEADER_LINES = 60
#: Attachments of one document that are read; further ones are named only.
MAX_ATTACHMENTS = 50
_FIELDS = re.compile(
    rb"(?:from|to|date|subject|received|message-id|mime-version|return-path|delivered-to|"
    rb"content-type|reply-to|cc|x-[a-z0-9-]{1,60})[ \t]*:",
    re.I,
)
_HEADER_LINE = re.compile(rb"[!-9;-~]{1,76}:|[ \t]+\S")
_MBOX_FROM = re.compile(rb"From \S+.*\d{4}")
#: A separator line of mboxrd and mboxo: at the top or behind a blank line.
_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\n")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.M)


class MailParser:
    """Reads messages and mailboxes.

    :param document_parsers: read what is attached.
    """

    name = "mail"
    version = "1"

    def __init__(self, document_parsers: Sequence[Parser] = ()) -> None:
        self._parsers = tuple(document_parsers)

    def sniff(self, head: bytes, name: str) -> float:
        lowered = name.lower()
        if _MBOX_FROM.match(head) and _is_message(head.partition(b"\n")[2]):
            return 0.9
        if not _is_message(head):
            return 0.0
        return 0.9 if lowered.endswith((".eml", ".mht", ".mhtml")) else 0.5

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        return self._parse(data, name, _Budget())

    def _parse(self, data: bytes, name: str, budget: _Budget) -> ParsedDocument:
        refuse_empty(data, name)
        writer = _MailWriter(self, budget)
        try:
            write = _mailbox if _MBOX_FROM.match(data) else _single
            document = write(writer, data)
        except NestedTooDeep as error:
            raise parse_failed(
                name, f"nests the parts of a message more than {MAX_PARTS_DEPTH} levels deep."
            ) from error
        if not has_words(document.text.replace(NO_SUBJECT, "")):
            raise empty_document(name, "has neither a subject nor a text.")
        return document

    def read_attachment(self, file: Attachment, budget: _Budget) -> ParsedDocument | None:
        """The text of an attached file; ``None`` when it has none that is read."""
        parser = best_parser((*self._parsers, self), file.data[:HEAD_BYTES], file.name)
        if parser is None or budget.attachments <= 0:
            return None
        budget.attachments -= 1
        try:
            if parser is self:
                return self._nested(file, budget)
            return parser.parse(file.data, file.name)
        except IngestError as error:
            logger.info("an attachment is not read: %s", error.code)
            return None

    def _nested(self, file: Attachment, budget: _Budget) -> ParsedDocument | None:
        """A message attached to a message."""
        if not budget.nested:
            return None
        budget.nested -= 1
        try:
            return self._parse(file.data, file.name, budget)
        finally:
            budget.nested += 1


@dataclass(slots=True)
class _Budget:
    """What may still be read of the attachments of one document."""

    attachments: int = MAX_ATTACHMENTS
    nested: int = MAX_NESTED


@dataclass(slots=True)
class _MailWriter:
    """Writes messages, each in a section with its subject, with their attachments below."""

    parser: MailParser
    budget: _Budget
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    attached: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def write(self, message: EmailMessage) -> None:
        self.builder.heading(header(message, "Subject") or NO_SUBJECT, 1)
        lines = ((name, header(message, name)) for name in ("From", "To", "Cc", "Date"))
        self.builder.block("\n".join(f"{name}: {value}" for name, value in lines if value))
        self._body(message)
        for file in attachments(message):
            self._attachment(file)

    def _body(self, message: EmailMessage) -> None:
        part = body_part(message)
        if part is None:
            return
        if part.get_content_type() == "text/html":
            try:
                tree = read_tree(part_bytes(part), "", part.get_content_charset(""))
            except IngestError as error:
                logger.info("the page of a message is not read: %s", error.code)
                return
            # Headings of newsletters are large print, not an outline; they stand below the subject.
            write_blocks(self.builder, read_blocks(tree), 1)
        else:
            self.builder.block(part_text(part))

    def _attachment(self, file: Attachment) -> None:
        self.attached.append(file.name)
        document = self.parser.read_attachment(file, self.budget)
        if document is None:
            self.unread.append(file.name)
            return
        self.builder.heading(file.name, 2)
        self.builder.document(document, 3)


def _single(writer: _MailWriter, data: bytes) -> ParsedDocument:
    message = read_message(data)
    writer.write(message)
    recipients = (header(message, name) for name in ("To", "Cc"))
    return writer.builder.build(
        "message/rfc822",
        title=header(message, "Subject"),
        language=header(message, "Content-Language"),
        keywords=keywords([header(message, "Keywords")], ","),
        metadata=fields(
            author=header(message, "From"),
            recipients=", ".join(value for value in recipients if value),
            created=date_of(message),
            identifier=header(message, "Message-ID"),
            attachments=", ".join(writer.attached),
            attachments_unread=", ".join(writer.unread),
        ),
    )


def _mailbox(writer: _MailWriter, data: bytes) -> ParsedDocument:
    sources = list(_messages(data))
    for source in sources:
        writer.write(read_message(source))
    return writer.builder.build(
        "application/mbox",
        metadata=fields(
            messages=len(sources),
            attachments=", ".join(writer.attached),
            attachments_unread=", ".join(writer.unread),
        ),
    )


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox, without the lines between them and their quoting."""
    separators = list(_SEPARATOR.finditer(data))
    ends = [*(match.start() for match in separators[1:]), len(data)]
    for separator, end in zip(separators, ends, strict=True):
        yield _QUOTED_FROM.sub(rb"\1", data[separator.end() : end])


def _is_message(head: bytes) -> bool:
    """Whether a block of header fields begins the source, two well-known ones among them."""
    if looks_binary(head):
        return False
    known: set[bytes] = set()
    for line in head.lstrip(b"\r\n").split(b"\n", MAX_HEADER_LINES)[:MAX_HEADER_LINES]:
        if not line.strip():
            break
        if not _HEADER_LINE.match(line):
            return False
        if match := _FIELDS.match(line):
            known.add(match[0].lower())
    return len(known) > 1
