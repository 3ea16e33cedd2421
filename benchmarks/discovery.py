"""What finding packs costs: a scan of many distributions, ``packs list``, and calling hooks.

    python -m benchmarks.discovery [--runs 5] [--distributions 500] [--packs 10]

CPU time in fresh processes, medians; the scan is what discovery adds to the imports it needs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cold_start import child_cpu
from eagle_rag_core.plugins import PackContext, hookimpl
from eagle_rag_core.plugins.hooks import PackHooks
from eagle_rag_core.testing.fake_distributions import write_distribution, write_pack

_SCAN = """
import sys, time
import packaging.requirements, packaging.specifiers, packaging.utils, configparser
import eagle_rag_core.plugins.manifest
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.states import PackState
started = time.process_time()
found = discover([sys.argv[1]])
spent = time.process_time() - started
assert [pack.record.state for pack in found.packs] == [PackState.DISCOVERED] * int(sys.argv[2])
print(spent)
"""
_HOOK_ROUNDS = 50


class _Pack:
    """A pack that implements every hook and contributes nothing."""

    @hookimpl
    def register_tools(self, ctx: PackContext) -> list[object]:
        return []

    register_parsers = register_enrichers = register_embedders = register_tools
    register_collections = register_retrievers = register_query_expanders = register_tools
    register_rerankers = register_health = register_tools


def write_site(folder: Path, distributions: int, packs: int) -> None:
    """Distributions as an environment has them, some of which are packs."""
    for number in range(distributions - packs):
        scripts = f"[console_scripts]\ntool-{number} = module_{number}:main\n"
        write_distribution(
            folder, f"library-{number}", entry_points=scripts if number % 3 else None
        )
    for number in range(packs):
        write_pack(folder, f"pack{number}", requires=["eagle-rag-core>=0.1"])


def scan_cpu(folder: Path, packs: int) -> float:
    """CPU seconds of one discovery in a fresh process, beyond its imports."""
    command = [sys.executable, "-c", _SCAN, str(folder), str(packs)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def list_cpu(folder: Path) -> float:
    """CPU seconds of ``packs list`` where the distributions are on the path."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}
    return child_cpu([sys.executable, "-m", "eagle_rag_core.cli.main", "packs", "list"], env=env)


def hooks_cpu(packs: int) -> tuple[float, float]:
    """CPU seconds to register packs that implement every hook, and to call all of their hooks."""
    contexts = {f"pack{number}": PackContext(f"pack{number}") for number in range(packs)}
    hooks = PackHooks()
    started = time.process_time()
    for namespace in contexts:
        hooks.register(_Pack(), namespace)
    registered = time.process_time()
    for _ in range(_HOOK_ROUNDS):
        for namespace, context in contexts.items():
            for _called in hooks.call_each(namespace, context):
                pass
    called = time.process_time()
    return registered - started, (called - registered) / _HOOK_ROUNDS


def _line(name: str, seconds: Sequence[float]) -> None:
    median, least = statistics.median(seconds) * 1000, min(seconds) * 1000
    print(f"{name:<46}{median:9.2f} ms CPU  (min {least:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--distributions", type=int, default=500)
    parser.add_argument("--packs", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        write_site(site, options.distributions, options.packs)
        size = f"{options.distributions} distributions, {options.packs} packs"
        _line(f"scan of {size}", [scan_cpu(site, options.packs) for _ in range(options.runs)])
        _line(f"packs list beside {size}", [list_cpu(site) for _ in range(options.runs)])
    for packs in (1, 10, 100):
        register, call = zip(*(hooks_cpu(packs) for _ in range(options.runs)), strict=True)
        _line(f"registering {packs} packs with 9 hooks", register)
        _line(f"calling the 9 hooks of {packs} packs", call)


if __name__ == "__main__":
    main()
