"""`python -m bench.replication`: replication of our broker beside Apache's, one table in Markdown.

python -m bench.replication                            # everything, about twenty minutes
python -m bench.replication --quick                    # a first look, minutes
python -m bench.replication --only sync,catch-up       # some of it
python -m bench.replication --servers aerobee          # without Apache
python -m bench.replication --root DIR                 # on another disk (a folder of its own)

It needs a C compiler; Java and Maven for Apache. Master, slave and generator share the cores.
"""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence

from bench.broker import Table, machine, verdict
from bench.broker_cases import BROKERS
from bench.broker_load import Figures, compile_load
from bench.broker_servers import SERVERS
from bench.choices import read_choices
from bench.replication_cases import (
    ALONE,
    ASYNC,
    CATCH_UP_BODIES,
    MODES,
    QUICK,
    SYNC,
    Cases,
    Plan,
    Results,
)

TIMES_GOAL = 4
COST_GOAL = 1.15
LAG_GOAL_MS = 5
CATCH_UP_GOAL = 500
CATCH_UP = "catch-up"
NAMES = (*(mode.name for mode in MODES), CATCH_UP)

ByKind = Mapping[str, Figures]


def by_kind(results: Results, case: str, key: str, sign: int = 1) -> dict[str, Figures]:
    """The best medians of each kind that was measured: the largest of a key, or the smallest."""
    found = {}
    for kind in BROKERS:
        best = results.best(case, kind, lambda figures: sign * float(figures[key]))
        if best is not None:
            found[kind] = best
    return found


def ratio_of(figures: ByKind, key: str) -> float | None:
    if not all(kind in figures for kind in BROKERS) or not figures["apache"][key]:
        return None
    return float(figures["aerobee"][key] / figures["apache"][key])


def add_sends(table: Table, results: Results) -> None:
    for mode in MODES:
        figures = by_kind(results, f"send {mode.name}", "rate")
        cells = {kind: f"{one['rate']:,.0f} ({one['placement']})" for kind, one in figures.items()}
        times = ratio_of(figures, "rate")
        goal, is_met = "", None
        if mode.has_slave:
            goal, is_met = f"≥ {TIMES_GOAL}×", None if times is None else times >= TIMES_GOAL
        shown = "" if times is None else f"{times:.1f}×"
        if cells:
            title = f"single sends, 4 × 64, 100 B, {mode.title}, per s"
            table.add(title, cells, shown, verdict(goal, is_met))


def add_costs(table: Table, results: Results) -> None:
    """CPU of each message; what a slave takes of the master's."""
    alone = by_kind(results, f"send {ALONE.name}", "master_us", -1)
    for mode in MODES:
        figures = by_kind(results, f"send {mode.name}", "master_us", -1)
        cells = {
            kind: f"{one['master_us']:.2f}"
            + (f" + {one['slave_us']:.2f} µs" if mode.has_slave else " µs")
            for kind, one in figures.items()
        }
        goal, is_met = "", None
        if mode is ASYNC:
            goal = f"master ≤ {COST_GOAL:g} × without a slave"
            if "aerobee" in figures and "aerobee" in alone:
                share = figures["aerobee"]["master_us"] / alone["aerobee"]["master_us"]
                goal, is_met = f"{goal} ({share:.2f} ×)", share <= COST_GOAL
        if cells:
            title = f"CPU of such a send, {mode.title}: master"
            table.add(
                f"{title} + slave" if mode.has_slave else title, cells, "", verdict(goal, is_met)
            )


def add_times(table: Table, results: Results) -> None:
    for mode, prefix, title in (
        (ASYNC, "lag_", "lag of the slave at 5,000 sends/s, p50 / p99 ms"),
        (SYNC, "", "a send that waits for the slave, at 5,000/s, p50 / p99 ms"),
    ):
        figures = by_kind(results, f"open {mode.name}", f"{prefix}p99_us", -1)
        cells = {
            kind: f"{one[prefix + 'p50_us'] / 1000:.2f} / {one[prefix + 'p99_us'] / 1000:.2f}"
            for kind, one in figures.items()
        }
        goal, is_met = "", None
        if mode is ASYNC:
            goal = f"p99 ≤ {LAG_GOAL_MS} ms"
            if "aerobee" in figures:
                is_met = figures["aerobee"]["lag_p99_us"] <= LAG_GOAL_MS * 1000
        if cells:
            table.add(title, cells, "", verdict(goal, is_met))


def add_catch_ups(table: Table, results: Results) -> None:
    for body in CATCH_UP_BODIES:
        figures = by_kind(results, f"catch-up {body}", "mib_rate")
        cells = {
            kind: f"{one['mib_rate']:,.0f} ({one['rate']:,.0f} messages/s, "
            f"{one['master_us']:.2f} + {one['slave_us']:.2f} µs)"
            for kind, one in figures.items()
        }
        is_met = None
        if "aerobee" in figures:
            is_met = figures["aerobee"]["mib_rate"] >= CATCH_UP_GOAL
        times = ratio_of(figures, "mib_rate")
        if cells:
            shown = "" if times is None else f"{times:.1f}×"
            goal = verdict(f"≥ {CATCH_UP_GOAL}", is_met)
            table.add(f"catching up with 1.2 GiB of {body} B messages, MiB/s", cells, shown, goal)


def run(cases: Cases, only: Sequence[str]) -> None:
    for mode in MODES:
        if mode.name in only:
            cases.run_mode(mode)
    if CATCH_UP in only:
        cases.catch_ups()


def main() -> None:
    choices = read_choices(__doc__, NAMES, BROKERS)
    only, kinds, root = choices.cases, choices.servers, choices.root
    cases = Cases(compile_load(), root, kinds, QUICK if choices.is_quick else Plan())
    table = Table([name for name in SERVERS if name in kinds])
    try:
        run(cases, only)
    finally:
        shutil.rmtree(root, ignore_errors=True)
        for add in (add_sends, add_costs, add_times, add_catch_ups):
            add(table, cases.results)
        table.notes += cases.results.complaints
        command = shlex.join(["python", "-m", "bench.replication", *sys.argv[1:]])
        print(f"{machine()} `{command}`\n")
        print(table.text(), flush=True)


if __name__ == "__main__":
    main()
