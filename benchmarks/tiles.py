"""What tiles cost: finding them, reading them by OCR, drawing pages, and finding words on them.

Finding and reading happen once, at ingest: processor time a page, and a picture. Drawing and
looking up words happen at a call, in a process of its own: the time the caller waits, first with
that process to be started, then with one that has the document. Last, the memory that drawing
every page of a long document takes.

    python -m benchmarks.tiles [--data FOLDER] [--pages 500]

The memory is read from /proc, so on Linux only.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.pdf_layout import read_layouts
from eagle_rag_core.ingest.tiles.tiler import Tiler
from eagle_rag_core.models.ocr import ocr_engine
from eagle_rag_core.service.drawing.frames import Ask
from eagle_rag_core.service.drawing.pool import DrawingPool
from eagle_rag_core.types import ParsedDocument, Tile

_DATA = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data"))
_PDF = "application/pdf"
_RUNS = 3
_WIDTH = 1200
_DRAW_ALL = """
import re, sys
from eagle_rag_core.ingest.tiles.drawing import Original, encoded
with open(sys.argv[1], "rb") as file:
    data = file.read()
with Original(data, "application/pdf") as original:
    for page in range(1, original.pages + 1):
        encoded(original.draw(page, 1200), "png")
    with open("/proc/self/status") as file:
        peak = re.search(r"VmHWM:\\s+(\\d+) kB", file.read())
    print(original.pages, int(peak[1]) // 1024)
"""


def cpu_ms(work: Callable[[], object]) -> float:
    """Processor milliseconds of this process, the least of some runs."""
    return min(_elapsed(work, time.process_time) for _ in range(_RUNS))


def wall_ms(work: Callable[[], object]) -> float:
    return _elapsed(work, time.perf_counter)


def _elapsed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    before = clock()
    work()
    return (clock() - before) * 1000


def documents(folder: Path) -> Iterator[tuple[str, bytes, ParsedDocument]]:
    """The documents that can be read without OCR."""
    registry = ParserRegistry(())
    for path in sorted(folder.glob("*.*")):
        data = path.read_bytes()
        try:
            yield path.name, data, registry.pick(data[:65_536], path.name).parse(data, path.name)
        except IngestError:
            continue


def finding(folder: Path) -> None:
    print("finding tiles without OCR, CPU ms a page:")
    for name, data, parsed in documents(folder):
        sections = build_sections(parsed)
        tiles: Sequence[Tile] = ()

        def find() -> None:
            nonlocal tiles
            tiles = Tiler().tiles_of(parsed, data, sections, "v")  # noqa: B023 - called at once

        spent = cpu_ms(find) / max(1, len(parsed.pages))
        kinds = Counter(tile.kind.value for tile in tiles)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        print(f"  {name:30} {spent:6.1f}  {len(parsed.pages):3} pages  {listed or 'none'}")


def aligning(folder: Path) -> None:
    print("finding the words of a text on its page, CPU ms a page:")
    for name, data, parsed in documents(folder):
        if parsed.media_type != _PDF:
            continue
        layouts = {layout.number: layout.words for layout in read_layouts(data)}
        texts = [(parsed.text[span.start : span.end], span.number) for span in parsed.pages]
        spent = cpu_ms(lambda: [Alignment(text, layouts[page]) for text, page in texts])  # noqa: B023
        print(f"  {name:30} {spent / len(texts):6.1f}")


def reading(folder: Path) -> None:
    ocr = ocr_engine("auto")
    if ocr is None:
        print("reading figures by OCR: not installed")
        return
    print("reading figures by OCR, CPU s a figure:")
    for name, data, parsed in documents(folder):
        sections = build_sections(parsed)
        tiles = Tiler(ocr).tiles_of(parsed, data, sections, "v")  # the first one loads the weights
        read = sum(tile.text_source == "ocr" for tile in tiles)
        if read:
            spent = _elapsed(
                lambda: Tiler(ocr).tiles_of(parsed, data, sections, "v"),  # noqa: B023
                time.process_time,
            )
            print(f"  {name:30} {spent / 1000 / read:6.2f}  {read} with text")


def drawing(path: Path) -> None:
    data = path.read_bytes()
    pool = DrawingPool(processes=1)
    page = Ask("document", _PDF, 1, width=_WIDTH)

    def asked(ask: Ask) -> float:
        return wall_ms(lambda: pool.ask(ask, lambda: data))

    print(f"a page of {path.name} at {_WIDTH} pixels, ms until the caller has it:")
    print(f"  first of a process, PNG         {asked(page):6.0f}")
    kinds = {
        "PNG": page,
        "JPEG": replace(page, format="jpeg"),
        "JPEG of half of it": replace(page, format="jpeg", box="0,0,1,0.5"),
        "places of its words": replace(page, words=True),
    }
    for kind, ask in kinds.items():
        times = [asked(replace(ask, page=number)) for number in range(2, 17)]
        print(f"  {kind:30}  {statistics.median(times):6.0f}")
    pool.close()


def memory(path: Path, pages: int) -> None:
    from pypdfium2 import PdfDocument

    source, long = PdfDocument(path.read_bytes()), PdfDocument.new()
    while len(long) < pages:
        long.import_pages(source)
    target = io.BytesIO()
    long.save(target)
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(target.getvalue())
        file.flush()
        command = [sys.executable, "-c", _DRAW_ALL, file.name]
        drawn, peak = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.split()
    print(f"drawing {drawn} pages one after the other: {peak} MB at most")
    long.close()
    source.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--pages", type=int, default=500)
    options = parser.parse_args()
    folder = options.data / "documents"
    finding(folder)
    aligning(folder)
    reading(folder)
    drawing(folder / "redp5110_sampled.pdf")
    memory(folder / "redp5110_sampled.pdf", options.pages)


if __name__ == "__main__":
    main()
