"""The cases of the broker benchmark, and how one is measured.

A `Case` of load is run in rounds, the servers alternating within each; a figure is the median of
its rounds. A server of one thread gets one core and the generator the other. Apache is measured
that way and with both free to run on both cores, and the better of the two counts for it.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.__main__ import touch_memory
from bench.broker_load import Figures, IdleConnections, run_load
from bench.broker_servers import SERVERS, NameServer, Server

TOPIC = "BenchTopic"
FULL_TOPIC = "BenchPull"
MARKED_TOPIC = "BenchMarked"
BROKERS = ("aerobee", "apache")


@dataclass(frozen=True, slots=True)
class Placement:
    title: str
    server: frozenset[int]
    load: frozenset[int]


_CPUS = sorted(os.sched_getaffinity(0))
PINNED = Placement("pinned", frozenset(_CPUS[:1]), frozenset(_CPUS[1:2] or _CPUS))
FREE = Placement("free", frozenset(_CPUS), frozenset(_CPUS))
PLACEMENTS: Mapping[str, tuple[Placement, ...]] = {
    "aerobee": (PINNED, FREE),
    "apache": (PINNED, FREE),
    "redis": (PINNED,),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how often, how many."""

    rounds: int = 3
    seconds: float = 5
    open_seconds: float = 20
    warm_seconds: float = 2
    apache_warm_seconds: float = 100
    """Of load, before its first figure: its compiler takes a minute or two to settle."""
    pull_messages: int = 2_000_000
    starts: int = 3
    idle_connections: int = 1_000
    idle_seconds: float = 20
    topics: int = 10_000
    used_topics: int = 1_000


QUICK = Plan(
    rounds=2,
    seconds=2,
    open_seconds=5,
    warm_seconds=1,
    apache_warm_seconds=15,
    pull_messages=200_000,
    starts=1,
    idle_seconds=5,
    topics=1_000,
    used_topics=100,
)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    title: str
    arguments: str
    times: float = 0
    """The goal: so many times Apache's figure; 0: none."""
    is_single: bool = False
    """Redis can do it, too."""
    topic: str = TOPIC
    is_buried: bool = False
    """Measured when gigabytes have been written since what it reads."""
    also: tuple[str, str] | None = None
    """A second figure of the same run: its name and title; the goal is the same."""


SEND = "send --connections 4 --in-flight 64 --body 100"
SEND_ONE = "send --connections 64 --in-flight 1 --body 100"
SEND_KIB = "send --connections 4 --in-flight 64 --body 1024"
SEND_ONE_KIB = "send --connections 64 --in-flight 1 --body 1024"
BATCH = "batch --connections 4 --in-flight 16 --body 100"
PULL = "pull --connections 4 --in-flight 16"
BURY = "batch --connections 4 --in-flight 16 --body 4000"
BURY_BATCHES = 27_000  # 3.4 GB: more than our broker takes for new
# Pulls come first, while what they read is new, and again at the end.
RATES = (
    Case("pull", "pulls of 32, 100 B, messages/s", PULL, 3, topic=FULL_TOPIC),
    Case("send", "single sends, 4 × 64, 100 B, per s", SEND, 6, True),
    Case("send-64x1", "single sends, 64 × 1, 100 B, per s", SEND_ONE, 3, True),
    Case("send-1k", "single sends, 4 × 64, 1 KiB, per s", SEND_KIB, 5, True),
    Case("send-64x1-1k", "single sends, 64 × 1, 1 KiB, per s", SEND_ONE_KIB, 3, True),
    Case("batch", "batches of 32, 100 B, messages/s", BATCH, 3),
    Case(
        "pull-old",
        "pulls of 32, 100 B, 3.4 GB behind the end, messages/s",
        PULL,
        topic=FULL_TOPIC,
        is_buried=True,
    ),
)
FILL = "fill --connections 4 --in-flight 16 --body 100 --batch 24"
PULL_SQL = "pull-sql --connections 4 --in-flight 16"
DELAY = "delay --connections 4 --in-flight 64 --body 100 --ahead 5"
TRANSACTION = "transaction --connections 4 --in-flight 64 --body 100"
POP = "pop --connections 4 --in-flight 128"
# What is beyond sending and pulling. Where messages are counted in a topic it is the case's own, so
# that what comes late spoils no other case. Pops come last: what they leave is read again a minute
# later.
FEATURES = (
    Case(
        "pull-sql",
        "pulls of 32 by SQL92, half of 100 B messages pass, passed/s",
        PULL_SQL,
        3,
        topic=MARKED_TOPIC,
        also=("examined_rate", "the same, examined/s"),
    ),
    Case(
        "delay",
        "sends for a later second, 4 × 64, 100 B, per s",
        DELAY,
        3,
        topic="BenchDelay",
        also=("out_rate", "the same, delivered, messages/s"),
    ),
    Case(
        "transaction",
        "transactions committed, 4 × 64, 100 B, per s",
        TRANSACTION,
        3,
        topic="BenchTransaction",
    ),
    Case("pop", "pops of 32, 100 B, each acknowledged, messages/s", POP, 3, topic=FULL_TOPIC),
)
# Apache's defaults are without filters, and its timer is off here for everything else.
FEATURE_SETTINGS = {"timerWheelEnable": "true", "enablePropertyFilter": "true"}
OPEN = Case("open", "latency at 5,000/s", "open --connections 4 --body 100 --rate 5000")
SYNC = Case("sync", "synchronous flush, single sends, 4 × 64, 100 B, per s", SEND, 3)
# With users, and over TLS: each on servers of its own. The user is a super user: Apache's broker
# looks for no rules of it.
LOGIN = "--access-key bench --secret-key bench-secret"
_AUTH = "org.apache.rocketmq.auth"
USERS: Mapping[str, str] = {
    "authenticationEnabled": "true",
    "authorizationEnabled": "true",
    "authenticationMetadataProvider": (
        f"{_AUTH}.authentication.provider.LocalAuthenticationMetadataProvider"
    ),
    "authorizationMetadataProvider": (
        f"{_AUTH}.authorization.provider.LocalAuthorizationMetadataProvider"
    ),
    "initAuthenticationUser": '{"username":"bench","password":"bench-secret"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"inner-secret"}',
}
TRUST = {
    "authenticationStrategy": f"{_AUTH}.authentication.strategy.StatefulAuthenticationStrategy",
    "authorizationStrategy": f"{_AUTH}.authorization.strategy.StatefulAuthorizationStrategy",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """What servers ask of those who connect: a case, their settings, and what the generator has to
    show."""

    case: Case
    settings: Mapping[str, str]
    shown: str


def guards(certificates: Path) -> list[Guard]:
    """`certificates`: a folder with those of an authority and a host, as `aerobee tls init` makes
    them."""
    tls = {
        # Both: brokers register with a name server that speaks plain text.
        "tls.server.mode": "permissive",
        "tls.test.mode.enable": "false",
        "tls.server.certPath": str(certificates / "localhost.crt"),
        "tls.server.keyPath": str(certificates / "localhost.key"),
        "tls.server.trustCertPath": str(certificates / "ca.crt"),
    }
    ending = "single sends, 4 × 64, 100 B, per s"
    return [
        Guard(Case("auth", f"users, each request checked: {ending}", SEND, 4), USERS, LOGIN),
        Guard(
            Case("auth-stateful", f"users, connections trusted: {ending}", SEND, 4),
            {**USERS, **TRUST},
            LOGIN,
        ),
        Guard(
            Case("tls", f"TLS: {ending}", SEND, 2), tls, f"--authority {certificates / 'ca.crt'}"
        ),
    ]


GUARDS = ("auth", "auth-stateful", "tls")
# What Apache's warm-up consists of, with shares of its time.
WarmUp = Sequence[tuple[str, str, float]]
WARM_UP: WarmUp = (
    (SEND, TOPIC, 0.4),
    (SEND_ONE, TOPIC, 0.1),
    (BATCH, TOPIC, 0.2),
    (PULL, FULL_TOPIC, 0.3),
)
# Topics that must be full before they are read: by what, so many messages with each request.
FULL: Mapping[str, tuple[str, int]] = {FULL_TOPIC: (BATCH, 32), MARKED_TOPIC: (FILL, 24)}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Measured:
    """Figures of one case: by server and placement, one for each round."""

    def __init__(self) -> None:
        self._rounds: dict[tuple[str, str], list[Figures]] = {}
        self.complaints: list[str] = []

    def add(self, server: str, placement: Placement, case: Case, figures: Figures) -> None:
        self._rounds.setdefault((server, placement.title), []).append(figures)
        if figures["errors"]:
            self.complaints.append(
                f"{case.name}, {SERVERS[server].title}, {placement.title}: "
                f"{figures['errors']:,} errors beside {figures['count']:,}; first: "
                f"{figures['error'][:200]}"
            )

    def best(self, server: str, merit: Callable[[Figures], float]) -> tuple[str, Figures] | None:
        """The placement whose medians have the most merit, and these medians."""
        medians = self.medians(server)
        if not medians:
            return None
        placement = max(medians, key=lambda name: merit(medians[name]))
        return placement, medians[placement]

    def medians(self, server: str) -> dict[str, Figures]:
        """Of the rounds of each placement."""
        return {
            placement: _medians(rounds)
            for (who, placement), rounds in self._rounds.items()
            if who == server
        }


def _medians(rounds: Sequence[Figures]) -> Figures:
    numbers = [name for name, value in rounds[0].items() if isinstance(value, (int, float))]
    return {name: statistics.median(figures[name] for figures in rounds) for name in numbers}


class Bench:
    """The servers asked for, a place to write, and the generator."""

    def __init__(self, program: Path, root: Path, servers: Sequence[str], plan: Plan) -> None:
        self.plan = plan
        self._program = program
        self._root = root
        self._names = servers
        self._name_server: NameServer | None = None
        self._shown = ""

    def close(self) -> None:
        if self._name_server is not None:
            self._name_server.stop()

    def brokers(self) -> list[str]:
        return [name for name in self._names if name in BROKERS]

    def rates(
        self, cases: Sequence[Case], settings: Mapping[str, str], warm_up: WarmUp = WARM_UP
    ) -> tuple[dict[str, Measured], list[Figures]]:
        """Every case in alternating rounds on servers that stay up; and their memory afterwards."""
        topics = {TOPIC, *(case.topic for case in cases)}
        singles = any(case.is_single for case in cases)
        measured = {case.name: Measured() for case in cases}
        running: dict[str, Server] = {}
        try:
            for name in self._names:
                if name in BROKERS or singles:
                    running[name] = self._start(name, settings)
                    self._fill(name, running[name], topics)
                    self._warm_up(name, running[name], [w for w in warm_up if w[1] in topics])
                    running[name].freeze()
            for case in cases:
                if case.is_buried:
                    self._bury(running)
                for _ in range(self.plan.rounds):
                    for name, server in running.items():
                        if name in BROKERS or case.is_single:
                            self._measure(case, name, server, measured[case.name])
            memory = [{"server": name, **running[name].memory()} for name in self.brokers()]
        finally:
            for server in running.values():
                server.stop()
        return measured, memory

    def starts(self) -> dict[str, float]:
        """Seconds from the start of the process on an empty directory to its word that it is up."""
        seconds: dict[str, list[float]] = {name: [] for name in self._names}
        for _ in range(self.plan.starts):
            for name in self._names:
                server = self._start(name)
                seconds[name].append(server.start_seconds)
                server.stop()
        return {name: statistics.median(values) for name, values in seconds.items()}

    def idle(self, name: str) -> Figures:
        """Memory of many connections that say nothing; a core's share with and without them."""
        server, count = self._start(name), self.plan.idle_connections
        try:
            self._must(server, "create --queues 4", TOPIC, "--count 1")
            self._load(server, SEND, TOPIC, FREE, f"--seconds {self.plan.warm_seconds}")
            self._share_of_a_core(server)  # what it still does after the load and its start
            before, alone = server.memory()["Anonymous"], self._share_of_a_core(server)
            with IdleConnections(self._program, server.port, count, FREE.load) as connections:
                share = self._share_of_a_core(server)
                bytes_each = (server.memory()["Anonymous"] - before) / count
        finally:
            server.stop()
        lost = connections.figures["errors"] + connections.closed
        return {"bytes_each": bytes_each, "share": share, "alone": alone, "errors": lost}

    def topics(self, name: str) -> Figures:
        """Many topics made, a hundred more one by one, then a message to each of some of them."""
        server = self._start(name)
        try:
            before, disk = server.memory()["Anonymous"], server.disk_bytes()
            many = "create --connections 4 --in-flight 16 --queues 4"
            made = self._must(server, many, TOPIC, f"--count {self.plan.topics}")
            one = "create --connections 1 --in-flight 1 --queues 4"
            more = self._must(server, one, "BenchMore", "--count 100")
            say(f"topics {name}: {made['seconds']:.1f} s, one more {more['p50_us']:,.0f} us")
            os.sync()
            after, made_disk = server.memory()["Anonymous"], server.disk_bytes()
            used = self._must(server, "touch", TOPIC, f"--count {self.plan.used_topics}")
            os.sync()
            return {
                "seconds": made["seconds"],
                "one_more_ms": more["p50_us"] / 1000,
                "memory": after - before,
                "disk": made_disk - disk,
                "used_seconds": used["seconds"],
                "used_disk": server.disk_bytes() - made_disk,
                "used_memory": server.memory()["Anonymous"] - after,
            }
        finally:
            server.stop()

    def _share_of_a_core(self, server: Server) -> float:
        cpu, began = server.cpu_seconds(), time.perf_counter()
        time.sleep(self.plan.idle_seconds)
        return (server.cpu_seconds() - cpu) / (time.perf_counter() - began)

    def features(self, cases: Sequence[Case]) -> dict[str, Measured]:
        """Cases that ask for servers of their own; Apache is warmed up by the cases themselves."""
        warm_up = [(case.arguments, case.topic, 1 / len(cases)) for case in cases]
        return self.rates(cases, FEATURE_SETTINGS, warm_up)[0]

    def guarded(self, guard: Guard, program: Path) -> Measured:
        """A case on servers that ask who connects; `program`: a generator that can show it."""
        plain, self._program, self._shown = self._program, program, guard.shown
        try:
            warm_up = [(SEND, TOPIC, 0.7)]
            return self.rates([guard.case], guard.settings, warm_up)[0][guard.case.name]
        finally:
            self._program, self._shown = plain, ""

    def _start(self, name: str, more: Mapping[str, str] | None = None) -> Server:
        if self._name_server is None:
            self._name_server = NameServer(self._root / "nameserver", {})
        settings = {
            "namesrvAddr": f"127.0.0.1:{self._name_server.port}",
            "flushDiskType": "ASYNC_FLUSH",
            **(more or {}),
        }
        server = SERVERS[name](self._root / name, settings)
        say(f"{name}: ready in {server.start_seconds:.2f} s")
        return server

    def _load(
        self, server: Server, arguments: str, topic: str, placement: Placement, ending: str
    ) -> Figures:
        words = [*arguments.split(), "--topic", topic, *ending.split(), *self._shown.split()]
        return run_load(self._program, server.port, words, placement.load)

    def _must(self, server: Server, arguments: str, topic: str, ending: str) -> Figures:
        figures = self._load(server, arguments, topic, FREE, ending)
        if figures["errors"]:
            raise SystemExit(f"{server.title}, {arguments}: {figures['error']}")
        return figures

    def _fill(self, name: str, server: Server, topics: Iterable[str]) -> None:
        for topic in sorted(topics) if name in BROKERS else ():
            self._must(server, "create --queues 4", topic, "--count 1")
            if topic in FULL:
                arguments, each = FULL[topic]
                self._must(server, arguments, topic, f"--count {self.plan.pull_messages // each}")

    def _warm_up(self, name: str, server: Server, warm_up: WarmUp) -> None:
        if name != "apache":
            arguments = "redis" if name == "redis" else SEND
            self._load(server, arguments, TOPIC, FREE, f"--seconds {self.plan.warm_seconds}")
            server.empty()
            return
        for arguments, topic, share in warm_up:
            seconds = self.plan.apache_warm_seconds * share
            self._load(server, arguments, topic, FREE, f"--seconds {seconds}")

    def _bury(self, running: Mapping[str, Server]) -> None:
        for name in self.brokers():
            running[name].thaw()
            self._must(running[name], BURY, TOPIC, f"--count {BURY_BATCHES}")
            running[name].freeze()
            os.sync()

    def _measure(self, case: Case, name: str, server: Server, measured: Measured) -> None:
        seconds = self.plan.open_seconds if case is OPEN else self.plan.seconds
        arguments = case.arguments
        if name == "redis":
            arguments = arguments.replace("send", "redis")
        for placement in PLACEMENTS[name]:
            touch_memory()
            server.thaw()
            server.place(placement.server)
            self._load(server, arguments, case.topic, placement, "--seconds 1")
            cpu = server.cpu_seconds()
            figures = self._load(server, arguments, case.topic, placement, f"--seconds {seconds}")
            cpu = server.cpu_seconds() - cpu
            figures["server_us"] = cpu / figures["count"] * 1e6 if figures["count"] else 0.0
            measured.add(name, placement, case, figures)
            share = figures["cpu_seconds"] / figures["seconds"] if figures["seconds"] else 0
            say(
                f"{case.name} {name} {placement.title}: {figures['rate']:,.0f}/s, p50 "
                f"{figures['p50_us']:,.0f} p99 {figures['p99_us']:,.0f} p99.9 "
                f"{figures['p99.9_us']:,.0f} us, {figures['server_us']:.2f} us of CPU each, "
                f"generator at {share:.0%}, {figures['errors']} errors"
            )
            server.empty()
            server.freeze()
            os.sync()  # what one wrote is not the next one's to wait for
