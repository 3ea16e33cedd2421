"""Runs the benchmarks that need no service: ``make bench``."""

from __future__ import annotations

import runpy
import sys

_MODULES = (
    "benchmarks.cold_start",
    "benchmarks.discovery",
    "benchmarks.effects",
    "benchmarks.call_overhead",
    "benchmarks.cranfield",
    "benchmarks.ingest",
    "benchmarks.serving_while_ingesting",
    "benchmarks.faults",
    "benchmarks.tiles",
)


def main() -> None:
    for module in _MODULES:
        print(f"== {module} ==", flush=True)
        sys.argv = [module]
        runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
