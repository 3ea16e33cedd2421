"""What a vocabulary costs a process: time to the first annotated text, memory, speed.

python plugins/biomed/benchmarks/footprint.py --data DATA --vocabulary FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.artefact import open_artefact
from eagle_rag_biomed.stopterms import builtin_stop_terms

_ROUNDS = 5


def resident() -> float:
    """Megabytes of memory in use, those mapped from files included."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, required=True, help="compiled")
    arguments = parser.parse_args()
    path = arguments.data / "biomed" / "ir" / "docs.jsonl"
    if not path.is_file():
        raise SystemExit("No abstracts there: name the test data with --data.")
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    size = sum(len(text.encode()) for text in texts) / 1e6
    before, begin = resident(), time.process_time()
    annotator = Annotator(open_artefact(arguments.vocabulary), builtin_stop_terms())
    annotator.annotate(texts[0])
    first = (time.process_time() - begin) * 1000
    rates = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        for text in texts:
            annotator.annotate(text)
        rates.append(size / (time.process_time() - begin))
    added = resident() - before
    sys.stdout.write(
        f"first text after {first:.0f} ms, {added:.0f} MB more memory; {size:.1f} MB of text: "
        f"{rates[0]:.2f} MB/s at first, {max(rates):.2f} MB/s warm (processor time)\n"
    )


if __name__ == "__main__":
    main()
