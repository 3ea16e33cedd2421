"""Which programs are found and used, how they are called, and what of theirs is refused."""

from __future__ import annotations

import os
from email import message_from_bytes
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rendition_samples import FakeOffice, printed

from eagle_rag_core.cli.checks.pages import pages
from eagle_rag_core.cli.checks.results import Status
from eagle_rag_core.ingest.recipes import Recipes
from eagle_rag_core.ingest.renditions import office, web
from eagle_rag_core.ingest.renditions.confined import Bounds, ConversionFailed
from eagle_rag_core.ingest.renditions.renderer import PageRenderer, Rendition, page_renderer
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import IngestSettings, PageSettings
from eagle_rag_core.types import ParsedDocument

pytestmark = pytest.mark.skipif(os.name != "posix", reason="converters need POSIX")
NOWHERE = "/nowhere/program"


@pytest.fixture
def fake(tmp_path: Path) -> FakeOffice:
    return FakeOffice(tmp_path / "bin")


def rendered(fake: FakeOffice, document: ParsedDocument, bounds: Bounds) -> Rendition:
    renderer = page_renderer(soffice=str(fake.program), bounds=bounds)
    rendition = renderer.render(b"content", document)
    assert rendition is not None
    return rendition


def test_a_program_that_is_named_is_used_and_no_other(fake: FakeOffice) -> None:
    found = page_renderer(soffice=str(fake.program), chromium=NOWHERE).renderers
    assert [(each.kind, each.program, each.works) for each in found] == [
        ("office", fake.program, True),
        ("web", None, False),
    ]


def test_programs_are_found_on_the_path(fake: FakeOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake.program.parent))
    monkeypatch.setattr(office, "PROGRAMS", ("libreoffice", fake.program.name))
    assert [each.program for each in page_renderer().renderers] == [fake.program, None]


def test_nothing_is_started_for_what_is_off_missing_or_of_another_format(fake: FakeOffice) -> None:
    off = page_renderer(office_pages="off", soffice=str(fake.program), chromium=NOWHERE)
    on = page_renderer(soffice=str(fake.program), chromium=NOWHERE)
    assert off.render(b"", ParsedDocument("x", office.DOCX)) is None
    assert on.render(b"", ParsedDocument("x", web.HTML)) is None
    assert on.render(b"", ParsedDocument("x", "application/pdf")) is None
    assert PageRenderer().render(b"", ParsedDocument("x", office.DOCX)) is None
    assert fake.runs == 0


def test_pages_are_bounded_in_number_and_size(fake: FakeOffice) -> None:
    document = ParsedDocument("x", office.DOCX)
    assert rendered(fake, document, Bounds(pages=2)).pdf == printed()
    few = rendered(fake, document, Bounds(pages=1))
    assert (few.pdf, few.note) == (
        b"",
        "No pages were made of it: it has 2 pages; at most 1 are made.",
    )
    small = rendered(fake, document, Bounds(bytes=500))
    assert (small.pdf, small.passing) == (b"", False)


def test_slides_have_a_page_each_or_none(fake: FakeOffice) -> None:
    deck = ParsedDocument("x", office.PPTX, metadata={"pages": "2"})
    assert rendered(fake, deck, Bounds()).pdf
    longer = ParsedDocument("x", office.PPTX, metadata={"pages": "3"})
    assert "its pages are not its slides" in rendered(fake, longer, Bounds()).note


def test_nothing_is_left_of_a_conversion(
    fake: FakeOffice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert rendered(fake, ParsedDocument("x", office.DOCX), Bounds()).pdf
    fake.fails()
    assert not rendered(fake, ParsedDocument("x", office.DOCX), Bounds()).pdf
    assert list(temporary.iterdir()) == []


def test_libreoffice_runs_no_macros_and_loads_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(office, "run_converter", lambda command, *_: commands.append(command))
    with pytest.raises(ConversionFailed):
        office.office_pdf(Path("/usr/bin/soffice"), b"x", office.PPTX, tmp_path, Bounds())
    (command,) = commands
    assert command[:3] == [
        "/usr/bin/soffice",
        f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}",
        "--headless",
    ]
    assert "--infilter=Impress MS PowerPoint 2007 XML" in command
    assert any("ExportHiddenSlides" in argument for argument in command)
    assert command[-1] == str(tmp_path / "document.pptx")
    profile = ElementTree.parse(tmp_path / "profile" / "user" / "registrymodifications.xcu")
    values = {
        (item.attrib["{http://openoffice.org/2001/registry}name"]): (item.findtext("value"))
        for item in profile.iter("prop")
    }
    assert values["DisableMacrosExecution"] == "true"
    assert values["MacroSecurityLevel"] == "3"
    assert values["BlockUntrustedRefererLinks"] == "true"
    assert values["Link"] == "2"


def test_chromium_gets_the_page_as_an_archive_of_itself() -> None:
    page = "<meta charset=gbk><p>海獭</p>"
    message = message_from_bytes(web.archive(page.encode("gbk")))
    _, part = message.walk()
    assert part.get_content_type() == "text/html"
    assert part.get_content_charset() == "utf-8"
    assert part.get_payload(decode=True) == page.encode()
    with pytest.raises(ConversionFailed, match="no text"):
        web.archive(bytes(range(256)) * 4)


def test_fingerprints_by_format(fake: FakeOffice) -> None:
    here = Recipes("p", page_renderer(soffice=str(fake.program), chromium=NOWHERE))
    elsewhere = Recipes("p", page_renderer(soffice=NOWHERE, chromium=NOWHERE))
    without = Recipes("p", page_renderer(office_pages="off", web_pages="off"))
    assert here.known() == elsewhere.known() == without.known()
    rendered_docx = here.with_pages(office.DOCX)
    assert len({"p", rendered_docx, here.with_pages(web.HTML)}) == 3
    assert here.with_pages("application/pdf") == "p"
    assert here.current()[office.DOCX] == {rendered_docx}
    assert elsewhere.current()[office.DOCX] == {rendered_docx, "p"}
    assert without.current()[office.DOCX] == {"p"}


def test_the_doctor_tells_what_was_found(fake: FakeOffice) -> None:
    def told(**chosen: object) -> tuple[Status, str]:
        settings = Settings(ingest=IngestSettings(pages=PageSettings.model_validate(chosen)))
        result = pages(settings)
        return result.status, f"{result.detail} {result.remedy}"

    status, text = told(soffice=str(fake.program), web="off")
    assert status is Status.OK
    assert f"pages by {fake.program}" in text
    assert "HTML documents: off." in text
    status, text = told(soffice=NOWHERE, web="off")
    assert status is Status.WARNING
    assert "LibreOffice is not installed" in text
    assert "ingest.pages.soffice" in text
