"""Messages and mailboxes: what is read, what is only named, and hostile nesting."""

from __future__ import annotations

from email.message import EmailMessage

import pytest
from format_samples import SAMPLES, mail
from invariants import check_document

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers import ParserRegistry, core_parsers
from eagle_rag_core.ingest.parsers.mail import MAX_ATTACHMENTS, MAX_NESTED
from eagle_rag_core.types import ParsedDocument

PARSER = next(parser for parser in core_parsers() if parser.name == "mail")


def parse(message: EmailMessage | bytes, name: str = "a.eml") -> ParsedDocument:
    data = message if isinstance(message, bytes) else message.as_bytes()
    document = PARSER.parse(data, name)
    check_document(document)
    return document


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in document.headings]


def attach(message: EmailMessage, name: str, data: bytes) -> None:
    message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)


def test_a_plain_message() -> None:
    document = parse(mail("Dear Bob,\n\n> What did you say?\nYes.\n", "Grüße 🦆"))
    assert document.text == (
        "Grüße 🦆\n\nFrom: Ann Author <ann@example.org>\nTo: bob@example.org\n"
        "Date: Mon, 06 May 2024 07:08:00 +0000\n\nDear Bob,\n\n> What did you say?\nYes."
    )
    assert document.title == "Grüße 🦆"
    assert document.metadata == {
        "author": "Ann Author <ann@example.org>",
        "recipients": "bob@example.org",
        "created": "2024-05-06T07:08:00+00:00",
        "identifier": "<1@example.org>",
    }


def test_plain_text_is_preferred_to_the_page() -> None:
    message = mail("The plain one.")
    message.add_alternative("<h1>Big</h1><p>The page.</p>", subtype="html")
    assert "The page" not in parse(message).text


def test_a_page_is_read_by_blocks_below_the_subject() -> None:
    message = mail("x")
    message.set_content(
        "<html><body><h1>Offer</h1><table><tr><th>A</th><th>B</th></tr>"
        "<tr><td>1</td><td>2</td></tr></table><script>bad()</script></body></html>",
        subtype="html",
        charset="iso-8859-1",
    )
    document = parse(message)
    assert outline(document) == [(1, "News of the day"), (2, "Offer")]
    assert "| A | B |\n| --- | --- |\n| 1 | 2 |" in document.text
    assert "bad" not in document.text


def test_attached_documents_are_sections_and_others_are_named() -> None:
    message = mail("See attached.")
    attach(message, "notes 字.md", b"# Plan\n\nDetails of the plan.")
    attach(message, "C:\\Users\\ann\\pic.png", b"\x89PNG\r\n\x1a\n" + bytes(64))
    attach(message, "deck.pptx", SAMPLES["pptx"][1])
    document = parse(message)
    assert outline(document)[:3] == [
        (1, "News of the day"),
        (2, "notes 字.md"),
        (3, "Plan"),
    ]
    assert "Details of the plan." in document.text
    assert "pptxword" in document.text
    assert document.pages == ()
    assert document.metadata["attachments"] == "notes 字.md, pic.png, deck.pptx"
    assert document.metadata["attachments_unread"] == "pic.png"


def test_a_damaged_attachment_does_not_lose_the_message() -> None:
    message = mail("See attached.")
    attach(message, "a.docx", SAMPLES["docx"][1][:500])
    document = parse(message)
    assert "See attached." in document.text
    assert document.metadata["attachments_unread"] == "a.docx"


def test_attached_messages_are_read_to_a_depth() -> None:
    message = mail("Innermost text.", "Level 0")
    for level in range(1, MAX_NESTED + 3):
        outer = mail(f"Text {level}.", f"Level {level}")
        outer.add_attachment(message)
        message = outer
    document = parse(message)
    assert f"Text {MAX_NESTED + 2}." in document.text
    assert "Text 2." in document.text
    assert "Text 1." not in document.text
    assert document.headings[1].title == f"Level {MAX_NESTED + 1}.eml"


def test_attachments_beyond_a_number_are_named_only() -> None:
    message = mail("Many.")
    for number in range(MAX_ATTACHMENTS + 2):
        attach(message, f"{number}.txt", f"attached number {number}".encode())
    document = parse(message)
    assert f"attached number {MAX_ATTACHMENTS - 1}" in document.text
    assert f"attached number {MAX_ATTACHMENTS}" not in document.text
    assert document.metadata["attachments_unread"] == "50.txt, 51.txt"


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "koi8-r", "no-such-charset"])
def test_charsets_are_believed_when_they_fit(charset: str) -> None:
    text = "Привет, мир" if charset == "koi8-r" else "Größe und Maß"
    body = text.encode(charset if charset != "no-such-charset" else "utf-8")
    head = f"From: a@b.c\r\nSubject: s\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
    assert text in parse(head.encode() + body).text


@pytest.mark.parametrize(
    "head",
    [
        *("Subject: =?utf-8?B?4pyT?= =?broken?=\n", "Subject: a\n b\n", "Date: not a date\n"),
        *("To: <<<>>>,;:@\n", "From: =?utf-8?Q?=FF=FE?= <\n", "Subject: " + "(" * 500 + "\n"),
        *("Date: Mon, 99 Foo 0000 99:99\n", "Content-Type: ;;;=\n", "Message-ID: <\x00@>\n"),
        "Content-Disposition: attachment; filename*=utf-8''%FF%00..%2F..%2Fx\n",
    ],
)
def test_malformed_headers_are_read_as_they_stand(head: str) -> None:
    data = f"From: a@example.org\nTo: b@example.org\n{head}\nThe body.\n".encode()
    assert "The body." in parse(data).text or "Disposition" in head


def test_parts_nested_too_deep_are_refused() -> None:
    data = b"From: a@b.c\nSubject: s\n"
    for level in range(200):
        data += b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (level, level)
    with pytest.raises(IngestError, match="levels deep"):
        parse(data + b"\ntext\n")


def test_a_message_without_anything_is_empty() -> None:
    with pytest.raises(IngestError) as caught:
        parse(b"X-Mailer: \nSubject: \n\n\n")
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT


def test_a_mailbox_is_a_document_of_its_messages() -> None:
    mailbox = b"".join(
        b"From ann@example.org Mon May  6 07:08:00 2024\n"
        + mail(f"Text {number}.\n\n>From the start.\n", f"Subject {number}").as_bytes()
        + b"\n"
        for number in range(3)
    )
    for name in ("archive", "archive.mbox"):
        assert ParserRegistry().pick(mailbox, name).name == "mail"
    document = parse(mailbox, "archive.mbox")
    assert outline(document) == [(1, f"Subject {number}") for number in range(3)]
    assert document.text.count("\nFrom the start.") == 3
    assert document.metadata == {"messages": "3"}
    assert document.media_type == "application/mbox"


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"From: a@b.c\nSubject: x\n\nText", "a.eml", "mail"),
        (b"From: a@b.c\nSubject: x\n\nText", "message", "mail"),
        (b"From: a@b.c\nSubject: x\n\nText", "a.txt", "plain-text"),
        (b"Subject: a note\n\nNot a message.", "a.eml", "plain-text"),
        (b"To: do\nFrom here on, prose.\n", "notes", "plain-text"),
    ],
)
def test_messages_are_told_by_their_header(data: bytes, name: str, expected: str) -> None:
    assert ParserRegistry().pick(data, name).name == expected
