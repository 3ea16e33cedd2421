"""Office documents as PDF, by LibreOffice."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eagle_rag_core.ingest.renditions.confined import Bounds, ConversionFailed, run_converter

DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT: Final = "application/vnd.oasis.opendocument.text"
#: The import filter of each format, so that what a file says it is decides nothing.
_IMPORTS: Final = {
    DOCX: ("docx", "MS Word 2007 XML"),
    PPTX: ("pptx", "Impress MS PowerPoint 2007 XML"),
    ODT: ("odt", "writer8"),
}
MEDIA_TYPES: Final = frozenset(_IMPORTS)
#: Names of the program, and where macOS has it.
PROGRAMS: Final = (
    "soffice",
    "libreoffice",
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
)
_SCRIPTING: Final = "/org.openoffice.Office.Common/Security/Scripting"
_WRITER_LINKS: Final = "/org.openoffice.Office.Writer/Content/Update"
#: Path, name and value of what differs from the program's defaults.
_SETTINGS: Final = (
    (_SCRIPTING, "MacroSecurityLevel", "3"),
    (_SCRIPTING, "DisableMacrosExecution", "true"),
    (_SCRIPTING, "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Common/Save/Document", "LoadPrinter", "false"),
    (_WRITER_LINKS, "Link", "2"),
    (_WRITER_LINKS, "Field", "2"),
    ("/org.openoffice.Office.Java/VirtualMachine", "Enable", "false"),
)


def office_pdf(program: Path, data: bytes, media_type: str, folder: Path, bounds: Bounds) -> bytes:
    """The PDF of an office document.

    Macros are off, linked pictures and texts are not loaded, Java is off. Slides that are hidden
    are pages too, so that the number of a page is that of its slide.

    :param folder: an empty one, which is filled.
    :raises ConversionFailed: there is none.
    """
    suffix, import_filter = _IMPORTS[media_type]
    source = folder / f"document.{suffix}"
    source.write_bytes(data)
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_registry(), encoding="utf-8")
    written = folder / "written"
    run_converter(
        [
            str(program),
            f"-env:UserInstallation={profile.as_uri()}",
            "--headless",
            "--norestore",
            "--nolockcheck",
            "--nodefault",
            "--nologo",
            f"--infilter={import_filter}",
            "--convert-to",
            f"pdf:{_export(media_type)}",
            "--outdir",
            str(written),
            str(source),
        ],
        folder,
        bounds,
    )
    try:
        return (written / "document.pdf").read_bytes()
    except OSError as error:  # LibreOffice ends well whether or not it could read the document
        raise ConversionFailed("LibreOffice cannot read it") from error


def _export(media_type: str) -> str:
    if media_type == PPTX:
        return 'impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
    return "writer_pdf_Export"


def _registry() -> str:
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>\n"
        for path, name, value in _SETTINGS
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">\n'
        f"{items}</oor:items>\n"
    )
