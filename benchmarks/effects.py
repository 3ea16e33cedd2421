"""What ``plugins.enforce_effects`` costs a call of a pack's tool, and everything else.

Without the setting nothing is installed and nothing is paid. With it, the audit hook sees the
events of all threads for the life of the process, so events outside of calls are measured, too.

    python -m benchmarks.effects [--rounds 9]
"""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable
from pathlib import Path

from typing_extensions import TypedDict

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.context import PackAudit
from eagle_rag_core.plugins.effects.guard import EffectGuard
from eagle_rag_core.plugins.effects.permissions import Permissions
from eagle_rag_core.plugins.effects.watch import Watch, unwatched, watching
from eagle_rag_core.plugins.specs import tool_spec_of


class Nothing(TypedDict):
    found: int


@register_mcp_tool(namespace="bench", name="find_nothing", description="Finds nothing.")
def find_nothing() -> Nothing:
    return {"found": 0}


def micros(action: Callable[[], object], rounds: int) -> float:
    """Median of some rounds, in microseconds a time."""
    number = 5000
    return statistics.median(timeit.repeat(action, number=number, repeat=rounds)) / number * 1e6


def open_file() -> None:
    with Path(__file__).open("rb"):
        pass


def raise_event() -> int:
    """``id`` raises one of the many events that are nobody's effect."""
    return id(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    spec = tool_spec_of(find_nothing, owner="bench")
    alone = micros(find_nothing, rounds)
    before = micros(raise_event, rounds), micros(open_file, rounds)
    guard = EffectGuard({"bench": Permissions()}, {"bench": PackAudit()})
    watched = micros(lambda: guard.run(spec, {}), rounds)  # installs the hook
    after = micros(raise_event, rounds), micros(open_file, rounds)
    with watching(Watch(Permissions())):
        inside = micros(raise_event, rounds), micros(open_file, rounds)
    service = micros(unwatched(int), rounds) - micros(int, rounds)
    print(f"one call under the watch        {watched - alone:6.2f} µs more")
    print(f"one use of the context in it    {service:6.2f} µs more")
    print("                        no hook  not watched  watched")
    for name, *values in zip(("any event", "opening a file"), before, after, inside, strict=True):
        print(f"{name:<20}" + "".join(f"{value:10.2f}" for value in values) + " µs")


if __name__ == "__main__":
    main()
