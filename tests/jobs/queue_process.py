"""A process that works on a queue, for tests that need more than one.

``drain <url> <name>``: runs every job there is; notes when each began and ended.
``hold <url>``: claims a job, says so, waits for a line on stdin, then tries to finish it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from eagle_rag_core.catalog import kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import EagleError
from eagle_rag_core.jobs.queue import JobQueue

FINGERPRINT = "pipeline"


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def drain(catalog: Catalog, queue: JobQueue, name: str) -> None:
    say("ready")
    sys.stdin.readline()
    while (claim := queue.claim(name, FINGERPRINT, 30)) is not None:
        began = time.monotonic()
        time.sleep(0.002)
        ended = time.monotonic()
        with catalog.write() as tx:
            queue.succeed(tx, claim)
        say(claim.job_id, claim.document_id, began, ended)


def hold(catalog: Catalog, queue: JobQueue, name: str) -> None:
    claim = queue.claim(name, FINGERPRINT, 30)
    assert claim is not None
    say("claimed")
    sys.stdin.readline()
    try:
        with catalog.write() as tx:
            kbs.ensure_kb(tx, catalog.namespace, "late-write")
            queue.succeed(tx, claim)
        say("published")
    except EagleError as error:
        say(error.code)


if __name__ == "__main__":
    modes: dict[str, Callable[[Catalog, JobQueue, str], None]] = {"drain": drain, "hold": hold}
    opened = Catalog(sys.argv[2], namespace="core")
    modes[sys.argv[1]](opened, JobQueue(opened), sys.argv[3])
