"""`python -m bench.broker`: our broker beside Apache's and Redis, one table in Markdown.

python -m bench.broker                            # everything, about half an hour
python -m bench.broker --quick                    # a first look, minutes
python -m bench.broker --only send,pull,start     # some of it
python -m bench.broker --only delay,pop,transaction,pull-sql
python -m bench.broker --only send,auth,auth-stateful,tls     # with users, over TLS, without
python -m bench.broker --servers aerobee,apache   # without Redis
python -m bench.broker --root DIR                 # on another disk (a folder of its own, emptied)

It needs a C compiler; Java and Maven for Apache; Redis, or apt to fetch it; for users and TLS the
headers of OpenSSL. The stores take up to 30 GB while it runs.
"""

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from aerobee.app.authority import Authority
from bench.broker_cases import (
    FEATURES,
    GUARDS,
    OPEN,
    PINNED,
    QUICK,
    RATES,
    SYNC,
    Bench,
    Case,
    Measured,
    Plan,
    guards,
)
from bench.broker_load import Figures, compile_load, run_load
from bench.broker_servers import SERVERS
from bench.choices import read_choices

START_GOAL_SECONDS = 0.6
MEMORY_GOAL_BYTES = 80_000_000
OTHERS = (*GUARDS, "generator", "open", "sync", "memory", "start", "idle", "topics")
NAMES = tuple(case.name for case in (*RATES, *FEATURES)) + OTHERS


class Table:
    """One line for each thing measured; notes below it."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._lines: list[Sequence[str]] = []
        self.notes: list[str] = []

    def add(self, title: str, cells: Mapping[str, str], ratio: str = "", goal: str = "") -> None:
        shown = [cells.get(name, "–") for name in self._servers]
        self._lines.append([title, *shown, ratio or "–", goal or "–"])

    def text(self) -> str:
        titles = [SERVERS[name].title for name in self._servers]
        lines = [["measured", *titles, "to Apache", "goal"], ["---"] * (len(titles) + 3)]
        rows = ["| " + " | ".join(line) + " |" for line in [*lines, *self._lines]]
        return "\n".join([*rows, *(f"\n{note}" for note in self.notes)])


def verdict(goal: str, is_met: bool | None) -> str:
    return goal if is_met is None else f"{goal}: {'met' if is_met else 'missed'}"


def add_rate(table: Table, case: Case, measured: Measured) -> None:
    add_line(table, case, measured, "rate", case.title)
    if case.also is not None:
        add_line(table, case, measured, *case.also)
    costs = []
    for name in SERVERS:
        best = measured.best(name, lambda figures: float(figures["rate"]))
        if best is not None:
            costs.append(f"{SERVERS[name].title} {best[1]['server_us']:.2f} µs")
    table.notes.append(f"{case.title}: the server's CPU for each, {', '.join(costs)}.")
    table.notes += measured.complaints


def add_line(table: Table, case: Case, measured: Measured, key: str, title: str) -> None:
    cells, rates = {}, {}
    for name in SERVERS:
        best = measured.best(name, lambda figures: float(figures[key]))
        if best is not None:
            rates[name] = float(best[1][key])
            cells[name] = f"{rates[name]:,.0f} ({best[0]})"
    ratio, is_met = "", None
    goal = f"≥ {case.times:g}×" if case.times else ""
    beats_redis = case.name == "send"
    if beats_redis:
        goal += ", at least Redis"
    if "aerobee" in rates and rates.get("apache"):
        times = rates["aerobee"] / rates["apache"]
        ratio, is_met = f"{times:.1f}×", times >= case.times if goal else None
        ratio += pinned_ratio(measured, key)
        if beats_redis and "redis" in rates:
            is_met = is_met and rates["aerobee"] >= rates["redis"]
    table.add(title, cells, ratio, verdict(goal, is_met))


def pinned_ratio(measured: Measured, key: str) -> str:
    """The same where the server has one core and the generator the other."""
    ours, theirs = (measured.medians(name).get(PINNED.title) for name in ("aerobee", "apache"))
    if ours is None or not theirs or not theirs[key]:
        return ""
    return f" ({ours[key] / theirs[key]:.1f}× pinned: {ours[key]:,.0f} and {theirs[key]:,.0f})"


def add_latency(table: Table, measured: Measured) -> None:
    cells, medians = {}, {}
    for name in SERVERS:
        best = measured.best(name, lambda figures: -float(figures["p99_us"]))
        if best is None:
            continue
        placement, figures = best
        medians[name] = figures
        shown = (figures[key] / 1000 for key in ("p50_us", "p99_us", "p99.9_us"))
        cells[name] = " / ".join(f"{ms:.2f}" for ms in shown)
        cells[name] += f" ({placement})"
        table.notes.append(
            f"{OPEN.title}, {SERVERS[name].title}: {figures['rate']:,.0f}/s answered, maximum "
            f"{figures['max_us'] / 1000:.1f} ms; the generator itself was late by "
            f"{figures['late_p99_us'] / 1000:.2f} ms (p99), {figures['late_p99.9_us'] / 1000:.2f} "
            "ms (p99.9), which is in these figures."
        )
    ratio, is_met = "", None
    if "aerobee" in medians and "apache" in medians:
        ours, theirs = medians["aerobee"], medians["apache"]
        shares = [ours[key] / theirs[key] for key in ("p99_us", "p99.9_us")]
        ratio, is_met = " / ".join(f"{share:.2f}" for share in shares), max(shares) <= 0.1
    title = f"{OPEN.title}, p50 / p99 / p99.9 ms"
    table.add(title, cells, ratio, verdict("p99, p99.9 ≤ a tenth", is_met))
    table.notes += measured.complaints


def add_memory(table: Table, memory: Sequence[Figures]) -> None:
    cells = {m["server"]: f"{_mb(m['Anonymous'])} ({_mb(m['Rss'])} RSS)" for m in memory}
    ours = [m["Anonymous"] <= MEMORY_GOAL_BYTES for m in memory if m["server"] == "aerobee"]
    goal = verdict("≤ 80 MB", ours[0] if ours else None)
    table.add("memory after load, anonymous", cells, goal=goal)


def _mb(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def add_starts(table: Table, seconds: Mapping[str, float]) -> None:
    cells = {name: f"{value:.2f} s" for name, value in seconds.items()}
    is_met = seconds["aerobee"] <= START_GOAL_SECONDS if "aerobee" in seconds else None
    table.add("start to ready, empty directory", cells, goal=verdict("≤ 0.6 s", is_met))


def add_idle(table: Table, bench: Bench) -> None:
    cells = {}
    for name in bench.brokers():
        figures = bench.idle(name)
        cells[name] = (
            f"{figures['bytes_each'] / 1000:.1f} kB each, {figures['share']:.1%} of a core "
            f"({figures['alone']:.1%} without)"
        )
        if figures["errors"]:
            table.notes.append(f"idle, {name}: {figures['errors']} connections were lost.")
    table.add(f"{bench.plan.idle_connections:,} idle connections", cells)


def add_topics(table: Table, bench: Bench) -> None:
    made, more, used = {}, {}, {}
    for name in bench.brokers():
        figures = bench.topics(name)
        made[name] = f"{figures['seconds']:.1f} s, {_mb(figures['memory'])}, disk "
        made[name] += _mb(figures["disk"])
        more[name] = f"{figures['one_more_ms']:.1f} ms"
        used[name] = f"{figures['used_seconds']:.1f} s, {_mb(figures['used_memory'])}, disk "
        used[name] += _mb(figures["used_disk"])
    table.add(f"{bench.plan.topics:,} topics of 4 queues made, 4 × 16", made)
    table.add("then one more", more)
    table.add(f"then one message to each of {bench.plan.used_topics:,}", used)


def add_guarded(table: Table, bench: Bench, only: Sequence[str]) -> None:
    """Servers that ask who connects."""
    program = compile_load(with_openssl=True)
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        authority.make("bench")
        authority.issue("localhost", ("localhost", "127.0.0.1"))
        for guard in guards(Path(folder)):
            if guard.case.name in only:
                add_rate(table, guard.case, bench.guarded(guard, program))


def add_generator(table: Table, program: Path) -> None:
    """The generator's own limit: a server that stores nothing."""
    cpus = sorted(os.sched_getaffinity(0))
    shown = []
    with subprocess.Popen([program, "dummy"], stdout=subprocess.PIPE, text=True) as dummy:
        try:
            assert dummy.stdout is not None
            port = json.loads(dummy.stdout.readline())["port"]
            os.sched_setaffinity(dummy.pid, cpus[:1])
            for case in (case for case in (*RATES, *FEATURES) if not case.is_buried):
                arguments = [*case.arguments.split(), "--seconds", "2"]
                figures = run_load(program, port, arguments, cpus[1:2] or cpus)
                ns = figures["cpu_seconds"] / figures["count"] * 1e9
                shown.append(f"{case.name} {figures['rate']:,.0f}/s at {ns:,.0f} ns of its core")
            os.sched_setaffinity(dummy.pid, cpus)
            figures = run_load(program, port, [*OPEN.arguments.split(), "--seconds", "20"], cpus)
            shown.append(
                f"{OPEN.title} p50 / p99 / p99.9 {figures['p50_us'] / 1000:.2f} / "
                f"{figures['p99_us'] / 1000:.2f} / {figures['p99.9_us'] / 1000:.2f} ms"
            )
        finally:
            dummy.terminate()
    table.notes.append(
        f"The generator alone, against a server that stores nothing: {'; '.join(shown)}."
    )


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((ln.partition(":")[2].strip() for ln in lines if ln.startswith("model name")), "?")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"Machine: {model}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, "
        f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}."
    )


def run(bench: Bench, program: Path, only: Sequence[str], table: Table) -> None:
    if "generator" in only:
        add_generator(table, program)
    cases = [case for case in (*RATES, OPEN) if case.name in only]
    if cases:
        measured, memory = bench.rates(cases, {})
        for case in cases:
            if case is OPEN:
                add_latency(table, measured[case.name])
            else:
                add_rate(table, case, measured[case.name])
        if "memory" in only:
            add_memory(table, memory)
    features = [case for case in FEATURES if case.name in only]
    if features:
        figures = bench.features(features)
        for case in features:
            add_rate(table, case, figures[case.name])
    if "sync" in only:
        flush = {"flushDiskType": "SYNC_FLUSH"}
        add_rate(table, SYNC, bench.rates([SYNC], flush)[0][SYNC.name])
    if set(GUARDS) & set(only):
        add_guarded(table, bench, only)
    if "start" in only:
        add_starts(table, bench.starts())
    if "idle" in only:
        add_idle(table, bench)
    if "topics" in only:
        add_topics(table, bench)


def main() -> None:
    choices = read_choices(__doc__, NAMES, tuple(SERVERS))
    only, servers, root = choices.cases, choices.servers, choices.root
    program = compile_load()
    bench = Bench(program, root, servers, QUICK if choices.is_quick else Plan())
    table = Table(servers)
    try:
        run(bench, program, only, table)
    finally:
        bench.close()
        shutil.rmtree(root, ignore_errors=True)
        # What was measured before something broke is worth seeing, too.
        print(f"{machine()} `{shlex.join(['python', '-m', 'bench.broker', *sys.argv[1:]])}`\n")
        print(table.text(), flush=True)


if __name__ == "__main__":
    main()
