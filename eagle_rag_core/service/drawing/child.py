"""A drawing process: reads questions from its input and answers them, until that ends."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import ExitStack
from typing import IO, Final

from eagle_rag_core.ingest.tiles.drawing import PDF, Original, encoded, marked
from eagle_rag_core.ingest.tiles.pdf_layout import read_layout
from eagle_rag_core.jobs.confinement import confine, die_with_parent
from eagle_rag_core.service.drawing.frames import Answer, Ask, read_ask, send_answer
from eagle_rag_core.types import Box

#: Pictures of the largest page take a tenth of it.
MEMORY_MB: Final = 1024


def main() -> None:
    """Run the process."""
    die_with_parent(os.getppid())
    confine(MEMORY_MB, yields=False)
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    _Desk().serve(sys.stdin.buffer, answers)


class _Desk:
    """Keeps the original that was asked of last."""

    def __init__(self) -> None:
        self._hash = ""
        self._data = b""
        self._opened: Original | None = None
        self._closing = ExitStack()

    def serve(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        while (asked := read_ask(questions)) is not None:
            ask, original = asked
            if original is not None:
                self._closing.close()
                self._hash, self._data, self._opened = ask.content_hash, original, None
            send_answer(answers, self._answer(ask))

    def _answer(self, ask: Ask) -> Answer:
        if ask.content_hash != self._hash:
            return Answer("damaged")
        try:
            if ask.words:
                return self._words(ask)
            image = self._original(ask).draw(
                ask.page, ask.width, part=ask.part, box=Box.parse(ask.box)
            )
            marks = [Box.parse(mark) for mark in ask.marks]
            return Answer(image=encoded(marked(image, marks), ask.format))
        except LookupError:
            return Answer("no_page", self._original(ask).pages)
        except ValueError:
            return Answer("damaged")

    def _words(self, ask: Ask) -> Answer:
        if ask.media_type != PDF:
            return Answer()
        words = read_layout(self._data, ask.page).displayed_words()
        return Answer(words=[(word.text, word.box, word.turns) for word in words])

    def _original(self, ask: Ask) -> Original:
        if self._opened is None:
            self._opened = self._closing.enter_context(Original(self._data, ask.media_type))
        return self._opened


if __name__ == "__main__":
    main()
