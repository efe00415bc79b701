"""`python -m bench.grpc`: our broker's gRPC beside Apache's broker with its proxy, one table.

python -m bench.grpc                        # everything, twelve minutes
python -m bench.grpc --quick                # a first look, three minutes
python -m bench.grpc --servers aerobee      # without Apache: no Java needed
python -m bench.grpc --only send,take       # some of it
python -m bench.grpc --root DIR             # on another disk (a folder of its own, emptied)

The servers alternate within each round; one that is not measured is frozen. All processes may use
all cores. The generator is `grpc_load/grpc_load.c`, compiled when it has changed. It needs a C
compiler; Java and Maven for Apache.
"""

import asyncio
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aerobee
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from bench.broker import Table, machine, verdict
from bench.broker_cases import say
from bench.broker_load import BUILD, Figures, compile_program, run_load
from bench.broker_servers import Aerobee, Server, free_port
from bench.choices import read_choices
from bench.client.hosts import PatientNameServer, Proxy

TOPIC = "BenchTopic"
FILLED_TOPIC = "BenchTake"
EMPTY_TOPIC = "BenchEmpty"
QUEUES = 4
GROUPS = 4
"""Of clients that wait: brokers let at most 1,024 wait for one."""
STREAM_GOAL_BYTES = 40 << 10
SIDES: Mapping[str, type[Server]] = {"aerobee": Aerobee, "apache": Proxy}
CPUS = sorted(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how often, how many."""

    rounds: int = 3
    seconds: float = 5
    open_seconds: float = 20
    apache_warm_seconds: float = 60
    """Of load of each kind, before its first figure: its compiler takes a minute to settle."""
    filled: int = 1_000_000
    """Messages to receive: more than a run takes, at 200,000 a second."""
    streams: int = 2_000
    hold_seconds: float = 10


QUICK = Plan(rounds=2, seconds=3, open_seconds=5, apache_warm_seconds=10, filled=600_000)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    title: str
    arguments: str


SEND = Case("send", "sends, 4 × 64, 100 B, per s", "send --connections 4 --in-flight 64")
SEND_ONE = Case("send-64x1", "sends, 64 × 1, 100 B, per s", "send --connections 64 --in-flight 1")
TAKE = Case(
    "take",
    "receives of 32, each message acknowledged, 4 × 4, messages/s",
    f"take --connections 4 --in-flight 4 --batch 32 --topic {FILLED_TOPIC}",
)
OPEN = Case("open", "sends at 1,000/s, p50 / p99 / p99.9 ms", "open --connections 4 --rate 1000")
CASES = (SEND, SEND_ONE, TAKE, OPEN)
NAMES = (*(case.name for case in CASES), "memory", "streams")


class Side:
    """A broker that answers gRPC, and the name server that knows it."""

    def __init__(self, name: str, folder: Path, program: Path) -> None:
        self.name = name
        self._program = program
        self._groups = 0
        self._name_server = PatientNameServer(folder / "namesrv", {})
        self._address = f"127.0.0.1:{self._name_server.port}"
        settings: dict[str, object] = {"namesrvAddr": self._address}
        if name == "aerobee":
            settings["grpcServerPort"] = free_port()
        try:
            self.server = SIDES[name](folder / "broker", settings)
        except BaseException:
            self._name_server.stop()
            raise
        self.title = self.server.title
        self.port = getattr(self.server, "grpc_port", settings.get("grpcServerPort"))
        say(f"{name}: ready in {self.server.start_seconds:.2f} s")
        asyncio.run(self._make_topics())

    async def _make_topics(self) -> None:
        async with aerobee.connect(self._address) as client:
            for topic in (TOPIC, FILLED_TOPIC, EMPTY_TOPIC):
                await client.admin.topics.put(
                    TopicConfig(topic, read_queues=QUEUES, write_queues=QUEUES)
                )

    async def _make_group(self, group: str) -> None:
        """A group that begins with the first message of the filled topic."""
        async with aerobee.connect(self._address) as client:
            await client.admin.groups.put(GroupConfig(group))
            for number in range(QUEUES):
                queue = MessageQueue(FILLED_TOPIC, "broker-a", QueueId(number))
                await client.admin.offsets.commit(group, queue, 0)

    def run(self, arguments: str, ending: str) -> Figures:
        assert isinstance(self.port, int)
        words = f"{arguments} {ending}".split()
        return run_load(self._program, self.port, words, CPUS)

    def measure(self, case: Case, seconds: float) -> Figures:
        ending = f"--seconds {seconds}"
        if case is TAKE:
            self._groups += 1
            group = f"bench-{self.name}-{self._groups}"
            asyncio.run(self._make_group(group))
            ending += f" --group {group}"
        cpu = self.server.cpu_seconds()
        figures = self.run(case.arguments, ending)
        cpu = self.server.cpu_seconds() - cpu
        figures["server_us"] = cpu / figures["count"] * 1e6 if figures["count"] else 0.0
        say(
            f"{case.name} {self.name}: {figures['rate']:,.0f}/s, p50 {figures['p50_us']:,.0f} p99 "
            f"{figures['p99_us']:,.0f} us, {figures['server_us']:.1f} us of CPU each, generator "
            f"{figures['cpu_seconds'] / max(figures['seconds'], 1e-9):.0%}, "
            f"{figures['errors']} errors {figures['error']}"
        )
        return figures

    def hold(self, count: int, seconds: float) -> Figures:
        """Memory and a core's share of clients with telemetry and a long poll each."""
        for number in range(GROUPS):
            asyncio.run(self._make_group(f"bench-hold-{number}"))
        before, threads = self.server.memory()["Anonymous"], self._threads()
        words = f"hold --connections {count} --groups {GROUPS} --in-flight 1 --topic {EMPTY_TOPIC}"
        command = [str(self._program), *words.split(), "--group", "bench-hold"]
        with subprocess.Popen(
            [*command, "--port", str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            figures: Figures = json.loads(process.stdout.readline())
            cpu, began = self.server.cpu_seconds(), time.perf_counter()
            time.sleep(seconds)
            share = (self.server.cpu_seconds() - cpu) / (time.perf_counter() - began)
            each = (self.server.memory()["Anonymous"] - before) / count
            more = self._threads() - threads
            rest, _ = process.communicate()
        lost = figures["errors"] + json.loads(rest)["lost"]
        say(f"streams {self.name}: {each / 1024:.1f} KiB each, {share:.1%}, {more} threads, {lost}")
        return {"bytes_each": each, "share": share, "threads": more, "lost": lost}

    def _threads(self) -> int:
        return len(os.listdir(f"/proc/{self.server.process_id}/task"))

    def freeze(self) -> None:
        self.server.freeze()
        self._name_server.freeze()
        os.sync()

    def thaw(self) -> None:
        self._name_server.thaw()
        self.server.thaw()

    def stop(self) -> None:
        self.server.stop()
        self._name_server.stop()


class Bench:
    def __init__(self, program: Path, root: Path, names: Sequence[str], plan: Plan) -> None:
        self.plan = plan
        self.sides: list[Side] = []
        try:
            for name in names:
                side = Side(name, root / name, program)
                self.sides.append(side)
                self._prepare(side)
                side.freeze()
        except BaseException:
            self.stop()
            raise

    def _prepare(self, side: Side) -> None:
        filled = side.run(SEND.arguments, f"--topic {FILLED_TOPIC} --count {self.plan.filled}")
        if filled["errors"]:
            raise SystemExit(f"{side.title}: the topic was not filled: {filled['error']}")
        warm = self.plan.apache_warm_seconds if side.name == "apache" else 1
        for case in (SEND, SEND_ONE, TAKE):
            side.measure(case, warm)

    def figures(self, case: Case) -> dict[str, Figures]:
        """Medians of alternating rounds, by side."""
        rounds: dict[str, list[Figures]] = {side.name: [] for side in self.sides}
        seconds = self.plan.open_seconds if case is OPEN else self.plan.seconds
        for _ in range(self.plan.rounds):
            for side in self.sides:
                side.thaw()
                rounds[side.name].append(side.measure(case, seconds))
                side.freeze()
        return {name: _medians(taken) for name, taken in rounds.items()}

    def stop(self) -> None:
        for side in self.sides:
            side.stop()


def _medians(rounds: Sequence[Figures]) -> Figures:
    numbers = [name for name, value in rounds[0].items() if isinstance(value, (int, float))]
    return {name: statistics.median(figures[name] for figures in rounds) for name in numbers}


def add_case(table: Table, case: Case, measured: Mapping[str, Figures]) -> None:
    """A line for a case, and one for the CPU that it took."""
    if case is OPEN:
        keys = ("p50_us", "p99_us", "p99.9_us")
        cells = {
            name: " / ".join(f"{figures[key] / 1000:.2f}" for key in keys)
            for name, figures in measured.items()
        }
        share = _ratio(measured, "p99_us")
        goal = verdict("p99 ≤ half", None if share is None else share <= 0.5)
    else:
        cells = {name: f"{figures['rate']:,.0f}" for name, figures in measured.items()}
        share = _ratio(measured, "rate")
        goal = verdict("≥ 2×", None if share is None else share >= 2)
    table.add(case.title, cells, "" if share is None else f"{share:.2f}×", goal)
    cpu = {name: f"{figures['server_us']:.1f} µs" for name, figures in measured.items()}
    share = _ratio(measured, "server_us")
    table.add("the same, CPU of the server for each", cpu, "" if share is None else f"{share:.2f}×")
    for name, figures in measured.items():
        if figures["errors"]:
            table.notes.append(f"{case.name}, {name}: {figures['errors']:,.0f} errors.")


def _ratio(measured: Mapping[str, Figures], key: str) -> float | None:
    if "aerobee" not in measured or not measured.get("apache", {}).get(key):
        return None
    return float(measured["aerobee"][key] / measured["apache"][key])


def add_memory(table: Table, bench: Bench) -> None:
    sizes = {side.name: side.server.memory()["Anonymous"] for side in bench.sides}
    cells = {name: f"{size / 1e6:,.0f} MB" for name, size in sizes.items()}
    share = sizes["aerobee"] / sizes["apache"] if len(sizes) == 2 else None
    goal = verdict("a tenth", None if share is None else share <= 0.1)
    ratio = "" if share is None else f"{share:.3f}×"
    table.add("memory after load, anonymous", cells, ratio, goal)


def add_streams(table: Table, bench: Bench) -> None:
    cells, is_met = {}, None
    for side in bench.sides:
        side.thaw()
        figures = side.hold(bench.plan.streams, bench.plan.hold_seconds)
        side.freeze()
        cells[side.name] = (
            f"{figures['bytes_each'] / 1024:.1f} KiB each, {figures['threads']} threads, "
            f"{figures['share']:.1%} of a core"
        )
        if side.name == "aerobee":
            is_met = figures["bytes_each"] <= STREAM_GOAL_BYTES and figures["threads"] == 0
        if figures["lost"]:
            table.notes.append(f"streams, {side.name}: {figures['lost']} errors.")
    title = f"{bench.plan.streams:,} clients with telemetry and a long poll"
    table.add(title, cells, goal=verdict("≤ 40 KiB each, no thread", is_met))


def run(bench: Bench, only: Sequence[str], table: Table) -> None:
    for case in CASES:
        if case.name in only:
            add_case(table, case, bench.figures(case))
    others: Mapping[str, Callable[[Table, Bench], None]] = {
        "memory": add_memory,
        "streams": add_streams,
    }
    for name, add in others.items():
        if name in only:
            add(table, bench)


def main() -> None:
    choices = read_choices(__doc__, NAMES, tuple(SIDES))
    only, servers, root = choices.cases, choices.servers, choices.root
    program = compile_program(BUILD / "grpc-load", ["grpc_load", "load"])
    table = Table(servers)
    bench = None
    try:
        bench = Bench(program, root, servers, QUICK if choices.is_quick else Plan())
        run(bench, only, table)
    finally:
        if bench is not None:
            bench.stop()
        shutil.rmtree(root, ignore_errors=True)
        # What was measured before something broke is worth seeing, too.
        print(f"{machine()} `{shlex.join(['python', '-m', 'bench.grpc', *sys.argv[1:]])}`\n")
        print(table.text(), flush=True)


if __name__ == "__main__":
    main()
