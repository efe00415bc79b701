"""The cases of the replication benchmark, and the way each is measured.

    sends      as fast as they go: without a slave, with an asynchronous one, and waiting for one
    lag        at a fixed rate: from the answer of a send until a consumer of the slave has it
    latency    at the same rate: of a send that waits for the slave
    catch-up   of a slave that has missed a gigabyte: from the first byte until its log is complete

Kinds alternate within each round, and a pair that is not measured is frozen. A figure is the median
of its rounds; where a case is measured on pinned and on free cores, the better one counts.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.__main__ import touch_memory
from bench.broker_cases import FREE, PINNED, SEND, Placement, say
from bench.broker_load import Figures
from bench.replication_pairs import Pair, log_end

OPEN = "open --connections 4 --body 100 --rate 5000"
CATCH_UP_BODIES = (100, 1024)
SAMPLE_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    title: str
    settings: Mapping[str, object]
    has_slave: bool = True


ALONE = Mode("alone", "without a slave", {"brokerRole": "ASYNC_MASTER"}, has_slave=False)
ASYNC = Mode("async", "an asynchronous slave", {"brokerRole": "ASYNC_MASTER"})
SYNC = Mode(
    "sync",
    "waiting for the slave (SYNC_MASTER, inSyncReplicas=2)",
    {"brokerRole": "SYNC_MASTER", "inSyncReplicas": 2, "totalReplicas": 2},
)
MODES = (ALONE, ASYNC, SYNC)


@dataclass(frozen=True, slots=True)
class Plan:
    """Times and numbers."""

    rounds: int = 3
    seconds: float = 5
    open_seconds: float = 20
    warm_seconds: float = 2
    apache_warm_seconds: float = 60
    catch_ups: int = 3
    catch_up_bytes: int = 1200 << 20


QUICK = Plan(
    rounds=2, seconds=2, open_seconds=5, warm_seconds=1, apache_warm_seconds=15, catch_ups=1
)

Key = tuple[str, str, str]
"""Case, kind, placement."""


class Results:
    """Figures of all rounds."""

    def __init__(self) -> None:
        self._rounds: dict[Key, list[Figures]] = {}
        self.complaints: list[str] = []

    def add(self, case: str, kind: str, placement: str, figures: Figures) -> None:
        self._rounds.setdefault((case, kind, placement), []).append(figures)
        if figures.get("errors"):
            self.complaints.append(
                f"{case}, {kind}, {placement}: {figures['errors']:,} errors beside "
                f"{figures['count']:,}; first: {figures['error'][:200]}"
            )

    def best(self, case: str, kind: str, merit: Callable[[Figures], float]) -> Figures | None:
        """The medians of the placement that has the most merit; with its name as `placement`."""
        medians = [
            {**_medians(rounds), "placement": key[2]}
            for key, rounds in self._rounds.items()
            if key[:2] == (case, kind)
        ]
        return max(medians, key=merit, default=None)


def _medians(rounds: Sequence[Figures]) -> Figures:
    numbers = [name for name, value in rounds[0].items() if isinstance(value, (int, float))]
    return {name: statistics.median(figures[name] for figures in rounds) for name in numbers}


class Cases:
    """Kinds of brokers, a place to write, and the generator."""

    def __init__(self, program: Path, root: Path, kinds: Sequence[str], plan: Plan) -> None:
        self._program = program
        self._root = root
        self._kinds = kinds
        self._plan = plan
        self.results = Results()

    def run_mode(self, mode: Mode) -> None:
        """Sends as fast as they go, and at a fixed rate where there is a slave."""
        pairs: list[Pair] = []
        try:
            for kind in self._kinds:
                pairs.append(self._start(kind, mode))
                pairs[-1].freeze()
            for _ in range(self._plan.rounds):
                for pair in pairs:
                    for placement in (PINNED, FREE):
                        self._measure_sends(mode, pair, placement)
            for _ in range(self._plan.rounds if mode.has_slave else 0):
                for pair in pairs:
                    self._measure_open(mode, pair)
        finally:
            for pair in pairs:
                pair.stop()

    def _start(self, kind: str, mode: Mode) -> Pair:
        pair = Pair(kind, self._program, self._root / f"{kind}-{mode.name}", mode.settings)
        if mode.has_slave:
            pair.start_slave()
        pair.until_ready()
        plan = self._plan
        seconds = plan.apache_warm_seconds if kind == "apache" else plan.warm_seconds
        pair.load(SEND, f"--seconds {seconds}")
        pair.until_followed()
        say(f"{kind}, {mode.title}: ready and warm")
        return pair

    def _measure_sends(self, mode: Mode, pair: Pair, placement: Placement) -> None:
        touch_memory()
        pair.thaw()
        pair.place(placement)
        pair.load(SEND, "--seconds 1", placement)
        pair.until_followed()
        before = pair.cpu_seconds()
        figures = pair.load(SEND, f"--seconds {self._plan.seconds}", placement)
        began = time.monotonic()
        pair.until_followed()
        figures["behind_seconds"] = time.monotonic() - began
        _add_cpu(figures, before, pair.cpu_seconds())
        self.results.add(f"send {mode.name}", pair.kind, placement.title, figures)
        say(
            f"send, {mode.title}, {pair.kind} {placement.title}: {figures['rate']:,.0f}/s, p50 "
            f"{figures['p50_us']:,.0f} p99 {figures['p99_us']:,.0f} us, CPU "
            f"{figures['master_us']:.2f} + {figures['slave_us']:.2f} us each, slave "
            f"{figures['behind_seconds']:.2f} s behind at the end, {figures['errors']} errors"
        )
        pair.freeze()

    def _measure_open(self, mode: Mode, pair: Pair) -> None:
        assert pair.slave is not None
        pair.thaw()
        pair.place(FREE)
        ending = f"--seconds {self._plan.open_seconds}"
        if mode is ASYNC:
            ending += f" --reader-port {pair.slave.port}"
        before = pair.cpu_seconds()
        figures = pair.load(OPEN, ending)
        pair.until_followed()
        _add_cpu(figures, before, pair.cpu_seconds())
        self.results.add(f"open {mode.name}", pair.kind, FREE.title, figures)
        prefix = "lag_" if mode is ASYNC else ""
        say(
            f"5,000/s, {mode.title}, {pair.kind}: {prefix}p50 {figures[prefix + 'p50_us']:,.0f} "
            f"p99 {figures[prefix + 'p99_us']:,.0f} max {figures[prefix + 'max_us']:,.0f} us, CPU "
            f"{figures['master_us']:.1f} + {figures['slave_us']:.1f} us each, "
            f"{figures['errors']} errors {figures['error'][:200]}"
        )
        pair.freeze()

    def catch_ups(self) -> None:
        """Fresh pairs for every figure: what a slave has, it has not to catch up with."""
        for _ in range(self._plan.catch_ups):
            for body in CATCH_UP_BODIES:
                for kind in self._kinds:
                    pair = Pair(
                        kind, self._program, self._root / f"{kind}-catch-up", ASYNC.settings
                    )
                    try:
                        self._measure_catch_up(pair, body)
                    finally:
                        pair.stop()

    def _measure_catch_up(self, pair: Pair, body: int) -> None:
        # Apache's master gives an empty slave its last file only: so the slave is nearly empty.
        pair.start_slave()
        pair.until_ready()
        pair.end_slave()
        touch_memory()
        start = log_end(pair.master.port)
        count = pair.fill(body, self._plan.catch_up_bytes)
        end = log_end(pair.master.port)
        slave = pair.start_slave()
        began, before = time.monotonic(), pair.cpu_seconds()
        while (reached := log_end(slave.port)) < end:
            if reached <= start:
                began, before = time.monotonic(), pair.cpu_seconds()
            time.sleep(SAMPLE_SECONDS)
        seconds = time.monotonic() - began
        figures: Figures = {
            "count": count,
            "seconds": seconds,
            "mib_rate": (end - start) / seconds / 2**20,
            "rate": count / seconds,
        }
        _add_cpu(figures, before, pair.cpu_seconds())
        self.results.add(f"catch-up {body}", pair.kind, FREE.title, figures)
        say(
            f"catch-up, {body} B, {pair.kind}: {figures['mib_rate']:,.0f} MiB/s, "
            f"{figures['rate']:,.0f} messages/s, CPU {figures['master_us']:.2f} + "
            f"{figures['slave_us']:.2f} us each, {seconds:.1f} s"
        )


def _add_cpu(figures: Figures, before: Sequence[float], after: Sequence[float]) -> None:
    """CPU of master and slave for each message, in µs."""
    spent = [later - earlier for earlier, later in zip(before, after, strict=True)]
    each = [1e6 * seconds / max(1, figures["count"]) for seconds in (*spent, 0.0)]
    figures["master_us"], figures["slave_us"] = each[:2]
