"""`python -m bench.raft`: our Raft group beside Apache's DLedger mode, three brokers each; one
table in Markdown and a picture.

python -m bench.raft                           # everything, about an hour
python -m bench.raft --quick                   # a first look, minutes
python -m bench.raft --only kills              # of send, batch, latency, kills, steady, catch-up
python -m bench.raft --only steady --minutes 60  # full load: no election without a cause
python -m bench.raft --only catch-up           # an empty follower copies the log
python -m bench.raft --servers aerobee         # without Apache
python -m bench.raft --plot raft.svg           # the gaps of all kills
python -m bench.raft --root DIR                # on another disk (a folder of its own)

It needs a C compiler; Java and Maven for Apache, and for the Java client. Three brokers, a name
server and the generator share the cores; one kind runs at a time.
"""

import os
import shlex
import shutil
import statistics
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aerobee.app.chaos.pauses import percentile
from aerobee.app.load.result.plot import chart, drawing
from bench.broker import machine, verdict
from bench.broker_cases import BATCH, SEND, say
from bench.broker_load import Figures, compile_load
from bench.choices import read_choices
from bench.raft_groups import KINDS, Group
from bench.raft_kills import BROKER, JAVA, OBSERVERS, OURS, Kills
from bench.raft_steady import run_catch_up, run_steady

OPEN = "open --connections 4 --body 100 --rate 1000"
STEADY, CATCH_UP = "steady", "catch-up"
NAMES = ("send", "batch", "latency", "kills", STEADY, CATCH_UP)
OURS_KIND = "aerobee"
TIMES_GOAL = 5.0
LATENCY_GOAL_MS = 5.0
LEADER_GOALS_MS = (1_000.0, 2_000.0)
OUR_GAP_GOAL_MS = 3_000.0
_OBSERVED = {
    BROKER: "a new leader takes a send, from kill -9",
    OURS: "gap of our own client",
    JAVA: "gap of an unmodified Java client",
}


@dataclass(frozen=True, slots=True)
class Plan:
    rounds: int = 3
    seconds: float = 8
    open_seconds: float = 30
    warm_seconds: float = 3
    apache_warm_seconds: float = 60
    kills: int = 30
    calm_seconds: float = 3
    steady_minutes: float = 5
    fill_bytes: int = 1 << 30


QUICK = Plan(
    rounds=1,
    seconds=2,
    open_seconds=3,
    warm_seconds=1,
    apache_warm_seconds=10,
    kills=2,
    calm_seconds=1,
    steady_minutes=0.2,
    fill_bytes=64 << 20,
)


class Results:
    """Figures by case and kind."""

    def __init__(self) -> None:
        self.figures: dict[tuple[str, str], list[Figures]] = {}
        self.gaps: dict[tuple[str, str], list[float]] = {}
        """By observer and kind."""
        self.notes: list[str] = []

    def add(self, case: str, kind: str, figures: Figures) -> None:
        self.figures.setdefault((case, kind), []).append(figures)
        if figures["errors"]:
            self.notes.append(
                f"{case}, {kind}: {figures['errors']:,} errors: {figures['error'][:200]}"
            )

    def median(self, case: str, kind: str, key: str) -> float | None:
        found = [float(one[key]) for one in self.figures.get((case, kind), [])]
        return statistics.median(found) if found else None


class Bench:
    def __init__(self, program: Path, root: Path, plan: Plan) -> None:
        self._program = program
        self._root = root
        self._plan = plan
        self.results = Results()

    def measure(self, kind: str, only: Sequence[str]) -> None:
        ours_only = {STEADY, CATCH_UP}
        parts = set(only) - (set() if kind == OURS_KIND else ours_only)
        if parts - {CATCH_UP}:
            self._measure_whole(kind, parts)
        if CATCH_UP in parts:
            self._catch_up(kind)

    def _catch_up(self, kind: str) -> None:
        group = Group(kind, self._program, self._root / f"{kind}-catch-up", absent=(2,))
        try:
            found = run_catch_up(group, OPEN, self._plan.fill_bytes)
        finally:
            group.stop()
        self._note(found.sentence())

    def _note(self, sentence: str) -> None:
        say(sentence)
        self.results.notes.append(sentence)

    def _measure_whole(self, kind: str, only: Collection[str]) -> None:
        plan = self._plan
        folder = self._root / kind
        group = Group(kind, self._program, folder)
        try:
            warm = plan.apache_warm_seconds if kind == "apache" else plan.warm_seconds
            group.load(SEND, f"--seconds {warm}")
            say(f"{kind}: ready and warm")
            for case, arguments, seconds in (
                ("send", SEND, plan.seconds),
                ("batch", BATCH, plan.seconds),
                ("latency", OPEN, plan.open_seconds),
            ):
                for _ in range(plan.rounds if case in only else 0):
                    self._measure(group, case, arguments, seconds)
            if STEADY in only:
                self._note(run_steady(group, plan.steady_minutes).sentence())
            if "kills" in only:
                self._kill(group, folder)
        finally:
            group.stop()

    def _measure(self, group: Group, case: str, arguments: str, seconds: float) -> None:
        group.until_whole()
        before = group.cpu_seconds()
        figures = group.load(arguments, f"--seconds {seconds}")
        figures["cpu_us"] = 1e6 * (group.cpu_seconds() - before) / max(1, figures["count"])
        self.results.add(case, group.kind, figures)
        say(
            f"{case}, {group.kind}: {figures['rate']:,.0f}/s, p50 {figures['p50_us']:,.0f} p99 "
            f"{figures['p99_us']:,.0f} us, CPU of all brokers {figures['cpu_us']:.1f} us each, "
            f"{figures['errors']} errors"
        )

    def _kill(self, group: Group, folder: Path) -> None:
        kills = Kills(group, self._program, folder / "java-client", self._plan.calm_seconds)
        kills.run(self._plan.kills)
        for observer, gaps in kills.gaps.items():
            self.results.gaps[observer, group.kind] = [1000 * gap for gap in gaps]
        errors = ", ".join(f"{count} at {name}" for name, count in kills.errors().items())
        self.results.notes.append(
            f"{KINDS[group.kind].title}: {self._plan.kills} kills, {kills.found.sentence()}; sends"
            f" that failed at the application: {errors}."
        )


def table(results: Results, kinds: Sequence[str]) -> str:
    """Everything that was measured, in Markdown."""
    titles = [KINDS[kind].title for kind in kinds]
    lines = [["measured", *titles, "to Apache", "goal"], ["---"] * (len(kinds) + 3)]
    for case, title in (
        ("send", "single sends, 4 × 64, 100 B, per s"),
        ("batch", "batches of 32, 100 B, messages per s"),
    ):
        found = {kind: results.median(case, kind, "rate") for kind in kinds}
        rates = {kind: rate for kind, rate in found.items() if rate is not None}
        if rates:
            times = _ratio(rates)
            goal = f"≥ {TIMES_GOAL:g}×" if case == "send" else ""
            is_met = None if times is None or not goal else times >= TIMES_GOAL
            shown = "–" if times is None else f"{times:.1f}×"
            cells = [f"{rates[kind]:,.0f}" if kind in rates else "–" for kind in kinds]
            lines.append([title, *cells, shown, verdict(goal, is_met) or "–"])
    lines += _latency_lines(results, kinds)
    lines += _gap_lines(results, kinds)
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([*rows, *(f"\n{note}" for note in results.notes)])


def _latency_lines(results: Results, kinds: Sequence[str]) -> list[list[str]]:
    cells = []
    for kind in kinds:
        p50, p99 = (results.median("latency", kind, f"{one}_us") for one in ("p50", "p99"))
        cells.append("–" if p50 is None or p99 is None else f"{p50 / 1000:.2f} / {p99 / 1000:.2f}")
    if cells == ["–"] * len(kinds):
        return []
    ours = results.median("latency", "aerobee", "p99_us")
    is_met = None if ours is None else ours <= 1000 * LATENCY_GOAL_MS
    goal = verdict(f"p99 ≤ {LATENCY_GOAL_MS:g}", is_met)
    return [["a send at 1,000/s, p50 / p99 ms", *cells, "–", goal]]


def _gap_lines(results: Results, kinds: Sequence[str]) -> list[list[str]]:
    lines = []
    for observer in OBSERVERS:
        found = {kind: results.gaps.get((observer, kind), []) for kind in kinds}
        if not any(found.values()):
            continue
        cells = [_spread(found[kind]) for kind in kinds]
        goal, is_met = "", None
        ours = found.get("aerobee", [])
        if observer == BROKER:
            goal = "p50 ≤ 1,000, p99 ≤ 2,000"
            limits = zip((50, 99), LEADER_GOALS_MS, strict=True)
            is_met = all(percentile(ours, one) <= limit for one, limit in limits) if ours else None
        elif observer == OURS:
            goal = "p99 ≤ 3,000"
            is_met = percentile(ours, 99) <= OUR_GAP_GOAL_MS if ours else None
        title = f"{_OBSERVED[observer]}, p50 / p99 / longest ms"
        lines.append([title, *cells, "–", verdict(goal, is_met) or "–"])
    return lines


def _spread(gaps: Sequence[float]) -> str:
    if not gaps:
        return "–"
    return f"{percentile(gaps, 50):,.0f} / {percentile(gaps, 99):,.0f} / {max(gaps):,.0f}"


def _ratio(rates: Mapping[str, float]) -> float | None:
    if not rates.get("apache") or "aerobee" not in rates:
        return None
    return rates["aerobee"] / rates["apache"]


def plot(results: Results, kinds: Sequence[str]) -> str:
    """The gaps of all kills, the shortest first, a chart for each observer."""
    charts = []
    for observer in OBSERVERS:
        lines = []
        for kind in kinds:
            gaps = sorted(results.gaps.get((observer, kind), []))
            points = [(100 * (at + 1) / len(gaps), gap) for at, gap in enumerate(gaps)]
            if points:
                lines.append((KINDS[kind].title.partition(",")[0], points))
        if lines:
            title = f"{_OBSERVED[observer]}, ms: so many % of kills took at most so long"
            charts.append(chart(title, lines, "%"))
    return drawing(charts)


def main() -> None:
    choices = read_choices(__doc__, NAMES, tuple(KINDS), has_plot=True, has_minutes=True)
    only, kinds, root = choices.cases, choices.servers, choices.root
    plan = QUICK if choices.is_quick else Plan()
    if choices.minutes:
        plan = replace(plan, steady_minutes=choices.minutes)
    bench = Bench(compile_load(), root, plan)
    try:
        for kind in kinds:
            bench.measure(kind, only)
    finally:
        shutil.rmtree(root, ignore_errors=True)
        command = shlex.join(["python", "-m", "bench.raft", *sys.argv[1:]])
        print(f"{machine()} Load at the end: {os.getloadavg()[0]:.1f}. `{command}`\n")
        print(table(bench.results, kinds), flush=True)
        if choices.plot:
            Path(choices.plot).write_text(plot(bench.results, kinds), encoding="utf-8")


if __name__ == "__main__":
    main()
