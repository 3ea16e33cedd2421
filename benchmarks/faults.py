"""What faults cost: hanging calls, too many calls, a broken part, and their protection itself.

    python -m benchmarks.faults

Work that waits sleeps, work that computes counts in Python. Nothing else should run meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.calls.work import Work
from eagle_rag_core.settings import load_settings
from eagle_rag_core.types import Caller

_CALLER = Caller("benchmark")
_WAIT_S = 0.1
_COMPUTE_STEPS = 60_000
#: Times the load that can be served.
_OVERLOAD = 10


@dataclass
class Answers:
    """Seconds that calls took, by outcome."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, code: str, seconds: float) -> None:
        self.seconds.setdefault(code, []).append(seconds)

    def count(self, code: str) -> int:
        return len(self.seconds.get(code, ()))

    def ms(self, code: str, percent: int) -> float:
        """A percentile, in milliseconds."""
        return percentile(self.seconds.get(code, [0.0]), percent) * 1000

    def within(self, code: str, limit: float) -> float:
        """The share of answers that took at most so many seconds."""
        seconds = self.seconds.get(code, [0.0])
        return sum(value <= limit for value in seconds) / len(seconds)


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles([*values, values[-1]], n=100, method="inclusive")[percent - 1]


class Bench:
    """Calls of one kind through a pipeline with settings of its own."""

    def __init__(self, function: Callable[[], Any], **mcp: Any) -> None:
        self.function = function
        home = tempfile.mkdtemp()
        self.pipeline = CallPipeline(load_settings(overrides={"home": home, "mcp": mcp}), {}, None)
        self.answers = Answers()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipeline.close()

    async def call(self, function: Callable[[], Any] | None = None) -> str:
        work = Work("work", {}, function or self.function)
        started = time.perf_counter()
        outcome = await self.pipeline.perform(work, caller=_CALLER, face="benchmark")
        self.answers.add(outcome.code, time.perf_counter() - started)
        return outcome.code

    async def at_once(self, calls: int) -> Counter[str]:
        """The outcomes of so many calls that come together."""
        return Counter(await asyncio.gather(*(self.call() for _ in range(calls))))


@contextmanager
def hanging() -> Iterator[Callable[[], Any]]:
    """A function that hangs until the end of the block."""
    release = threading.Event()
    try:
        yield release.wait
    finally:
        release.set()


def wait() -> None:
    time.sleep(_WAIT_S)


def compute() -> int:
    return sum(range(_COMPUTE_STEPS)) + sum(n & 3 for n in range(_COMPUTE_STEPS))


async def overhead() -> None:
    with Bench(int) as bench:
        for _ in range(300):
            await bench.call()
        bench.answers = Answers()
        for _ in range(5000):
            await bench.call()
        print(
            f"pipeline around nothing       p50 {bench.answers.ms('ok', 50):.3f}, "
            f"p99 {bench.answers.ms('ok', 99):.3f} ms"
        )


async def side_by_side() -> None:
    with Bench(wait) as bench:
        walls = []
        for calls in (1, 100):
            best = float("inf")
            for _ in range(5):
                started = time.perf_counter()
                assert await bench.at_once(calls) == {"ok": calls}
                best = min(best, time.perf_counter() - started)
            walls.append(best)
        print(f"100 calls that wait / one     {walls[1] / walls[0]:.2f}")


async def offered(bench: Bench, per_second: float, seconds: float) -> float:
    """Calls that come at a steady rate; returns successes per second."""
    bench.answers = Answers()
    started, tasks = time.perf_counter(), list[asyncio.Task[str]]()
    while (now := time.perf_counter() - started) < seconds:
        while len(tasks) < now * per_second:
            tasks.append(asyncio.create_task(bench.call()))
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    return bench.answers.count("ok") / (time.perf_counter() - started)


async def peak(bench: Bench, clients: int, seconds: float) -> float:
    """Successes per second of so many clients that call again and again."""
    bench.answers = Answers()
    started = time.perf_counter()

    async def client() -> None:
        while time.perf_counter() - started < seconds:
            await bench.call()

    await asyncio.gather(*(client() for _ in range(clients)))
    return bench.answers.count("ok") / (time.perf_counter() - started)


async def overload(name: str, function: Callable[[], Any], clients: int, **mcp: Any) -> None:
    with Bench(function, **mcp) as bench:
        best = await peak(bench, clients, 3)
        good = await offered(bench, best * _OVERLOAD, 5)
        answers = bench.answers
        print(
            f"{_OVERLOAD} x the load, {name:<13} goodput {good / best:.0%} of {best:.0f} calls/s, "
            f"answers p50 {answers.ms('ok', 50):.0f}, p99 {answers.ms('ok', 99):.0f} ms; "
            f"{answers.count('overloaded')} refused, {answers.within('overloaded', 0.05):.1%} of "
            f"them within 50 ms"
        )


async def timeouts() -> None:
    """Calls that hang, while others compute."""
    timeout = 0.5
    with (
        Bench(compute, tool_timeout=timeout, circuit_fail_threshold=1000) as bench,
        Bench(compute) as other,
        hanging() as hang,
    ):
        bench.function = hang
        load = asyncio.create_task(peak(other, 4, 3))
        codes = await bench.at_once(100)
        await load
    late = bench.answers.ms("timeout", 99) - timeout * 1000
    print(f"timeouts                      {codes['timeout']} of 100, p99 {late:.0f} ms late")


async def hangs() -> None:
    with Bench(int, tool_timeout=0.3, circuit_fail_threshold=1000) as bench:
        codes: Counter[str] = Counter()
        most = 0
        with hanging() as hang:
            bench.function = hang
            for _ in range(10):
                codes += await bench.at_once(100)
                most = max(most, sum(thread.name == "call" for thread in threading.enumerate()))
        print(f"1,000 calls that hang         at most {most} threads; {dict(codes)}")


async def neighbours() -> None:
    """One tool hangs in all its places: what do others notice?"""
    with Bench(int, tool_timeout=5, circuit_fail_threshold=1000) as bench:
        with hanging() as hang:
            hung = [asyncio.create_task(bench.call(hang)) for _ in range(100)]
            await asyncio.sleep(0.3)

            async def other(number: int) -> str:
                work = Work(f"other_{number % 5}", {}, int)
                return (await bench.pipeline.perform(work, caller=_CALLER, face="benchmark")).code

            codes = Counter(await asyncio.gather(*(other(number) for number in range(100))))
        await asyncio.gather(*hung)
        print(f"100 calls beside 100 hung     {codes['ok']} succeed")


async def probes() -> None:
    with Bench(int, circuit_fail_threshold=1, circuit_cooldown=0.1) as bench:
        made, lock = [0], threading.Lock()

        def fail() -> None:
            with lock:
                made[0] += 1
            time.sleep(0.05)
            raise ValueError

        bench.function = fail
        await bench.call()
        rounds, most = 20, 0
        for _ in range(rounds):
            await asyncio.sleep(0.11)
            before = made[0]
            await bench.at_once(200)
            most = max(most, made[0] - before)
        print(f"200 callers, half open        at most {most} probe in {rounds} rounds")


async def main() -> None:
    logging.disable(logging.ERROR)  # the faults are on purpose
    await overhead()
    await side_by_side()
    await overload("waiting", wait, 20, max_concurrent_calls=20)
    await overload("computing", compute, 4)
    await timeouts()
    await hangs()
    await neighbours()
    await probes()


if __name__ == "__main__":
    asyncio.run(main())
