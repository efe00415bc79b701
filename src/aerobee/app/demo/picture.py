"""Figures → lines of text: a picture of 80 columns and 24 lines, or one line for a log.

Pure functions of the figures. Columns are scaled to the highest value of their chart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aerobee.app.banner import USUAL
from aerobee.app.demo.figures import Figures, ReplicaFigures
from aerobee.app.demo.history import COLUMNS, History
from aerobee.app.demo.story import GROUPS, GUARD, ORDERS, SHIPPING, TOPICS, is_slow
from aerobee.app.ink import Ink
from aerobee.app.process.process_figures import MIB, Memory

WIDTH = 80
HEIGHT = 24
_NAME = max(map(len, (*TOPICS, *GROUPS)))
TRIES = (f"explain group {SHIPPING}", f"dlq show {GUARD}", f"message tail {ORDERS}")
"""What to look at meanwhile, as words of the command."""
REPLICA_TRIES = ("broker replicas",)
"""The same where there are slaves, whose lines take the place of the others."""
_REPLICAS_SHOWN = 2
"""So many slaves have a line each; of more, the one that is farthest behind has one."""
_BROKER = 12
_LAG_BYTES_SEEN = 64 << 10
"""As high as a chart of a slave's lag is at least."""
_LAG_SEEN = 50
"""So many messages are a lag that is worth a colour, and as high as a chart of it is at least."""


@dataclass(frozen=True, slots=True)
class Places:
    """The addresses, the data folder and the name of `aerobee` that the picture shows."""

    nameserver: str
    metrics: str
    """Empty: nowhere."""
    data: str
    command: str
    """How this shell calls `aerobee`."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """Memory, processor time and newest warning of the process."""

    memory: Memory | None = None
    cpu_share: float = 0.0
    """Of one core, of late."""
    warning: str = ""
    """What the log said last."""


def picture(history: History, places: Places, vitals: Vitals, ink: Ink) -> list[str]:
    last = history.last
    space = " " * COLUMNS
    lines = [
        _heading(places, ink),
        ink.dim(_clip(_state(last, vitals, places.data))),
        "",
        ink.bold(f"{'TOPIC':<{_NAME}}{'IN/S':>7} {space}{'OUT/S':>8} {space}{'STORED':>9}"),
        *(_topic(topic, history, ink) for topic in TOPICS),
        "",
        ink.bold(
            f"{'GROUP':<{_NAME}}{'OUT/S':>7} {'OF':<14} {'LAG':>6} {space}{'RETRIED':>8}{'DEAD':>8}"
        ),
        *(_group(group, history, ink) for group in GROUPS),
        "",
        f"{'delayed':<{_NAME}}{number(last.delayed, 7)} waiting for their time",
        f"{'transactions':<{_NAME}}{number(last.open_transactions, 7)} open; some are rolled back, "
        "some asked about",
        *_replicas(history, ink),
        "",
        _happening(last, ink),
        *_tries(places, REPLICA_TRIES if last.replicas else TRIES, ink),
    ]
    if vitals.warning:
        lines[-1] = ink.yellow(_clip(vitals.warning))
    return lines


def plain_line(history: History) -> str:
    """Return the figures in one line, for a log."""
    last = history.last
    groups = last.groups.values()
    parts = {
        "lag": sum(one.lag for one in groups),
        "retried": sum(one.retried for one in groups),
        "dead": sum(one.dead for one in groups),
        "delayed": last.delayed,
        "open": last.open_transactions,
    }
    said = " ".join(f"{name} {number(value, 6).strip()}" for name, value in parts.items())
    return f"demo: in {history.rate(_stored):.0f}/s out {history.rate(_consumed):.0f}/s {said}"


def replica_line(history: History) -> str:
    """Return the figures of slaves in one line, for a log; empty: there are none."""
    replicas = history.last.replicas
    if not replicas:
        return ""
    in_sync = sum(one.is_in_sync for one in replicas)
    behind = max(one.lag_bytes for one in replicas)
    return f"demo: slaves in sync {in_sync} of {len(replicas)}, bytes behind {max(0, behind):,}"


def chart(values: Sequence[float], ramp: str, peak_min: float = 1.0) -> str:
    """Return a chart as wide as its number of columns, the newest at the right."""
    peak = max((*values, peak_min))
    top = len(ramp) - 1
    drawn = "".join(ramp[round(value / peak * top)] for value in values)
    return f"{drawn:>{COLUMNS}}"


def number(value: int, width: int) -> str:
    """Format a number right-aligned in its column, with a blank before it; in thousands or millions
    where it would not fit."""
    text = f"{value:,}"
    for size, letter in ((1_000, "k"), (1_000_000, "M")):
        if len(text) >= width:
            text = f"{value // size}{letter}"
    return f"{text:>{width}}"


def _heading(places: Places, ink: Ink) -> str:
    title = "Aerobee demo"
    where = f"name server {places.nameserver}"
    if places.metrics:
        where += f"   http://{places.metrics}/metrics"
    space = " " * max(1, WIDTH - len(title) - len(where))
    return ink.bold(title) + _clip(space + where, WIDTH - len(title))


def _state(last: Figures, vitals: Vitals, data: str) -> str:
    minutes, seconds = divmod(int(last.seconds), 60)
    parts = [f"up {minutes}:{seconds:02}", f"cpu {vitals.cpu_share:.0%}"]
    if vitals.memory is not None:
        own, files = vitals.memory.own / MIB, vitals.memory.of_files / MIB
        parts.append(f"memory {own:.0f} MiB, {files:.0f} MiB of files")
    return "   ".join([*parts, f"data {data}"])


def _topic(topic: str, history: History, ink: Ink) -> str:
    def stored(figures: Figures) -> int:
        return figures.stored[topic]

    def consumed(figures: Figures) -> int:
        of_topic = (group for group, one in GROUPS.items() if one == topic)
        return sum(figures.groups[group].consumed for group in of_topic)

    came = ink.green(chart(history.rates(stored), ink.ramp))
    went = ink.cyan(chart(history.rates(consumed), ink.ramp))
    return (
        f"{topic:<{_NAME}}{history.rate(stored):>7.0f} {came}"
        f"{history.rate(consumed):>8.0f} {went}{number(stored(history.last), 9)}"
    )


def _group(group: str, history: History, ink: Ink) -> str:
    def consumed(figures: Figures) -> int:
        return figures.groups[group].consumed

    def lag(figures: Figures) -> int:
        return figures.groups[group].lag

    now = history.last.groups[group]
    behind, dead = number(now.lag, 6), number(now.dead, 8)
    return (
        f"{group:<{_NAME}}{history.rate(consumed):>7.0f} {GROUPS[group]:<14} "
        f"{ink.yellow(behind) if now.lag > _LAG_SEEN else behind} "
        f"{ink.yellow(chart(history.levels(lag), ink.ramp, _LAG_SEEN))}"
        f"{number(now.retried, 8)}{ink.red(dead) if now.dead else dead}"
    )


def _replicas(history: History, ink: Ink) -> Iterable[str]:
    replicas = history.last.replicas
    if len(replicas) <= _REPLICAS_SHOWN:
        yield from (_replica(one, history, ink) for one in replicas)
        return
    farthest = min(replicas, key=lambda one: (one.is_in_sync, -one.lag_bytes))
    in_sync = sum(one.is_in_sync for one in replicas)
    yield _replica(farthest, history, ink)
    yield f"{'slaves':<{_NAME}}{len(replicas):>7} in all, {in_sync} of them in sync"


def _replica(replica: ReplicaFigures, history: History, ink: Ink) -> str:
    def lag(figures: Figures) -> int:
        found = (one for one in figures.replicas if one[:2] == replica[:2])
        return max(0, next((one.lag_bytes for one in found), 0))

    behind = "?" if replica.lag_bytes < 0 else number(replica.lag_bytes, 7)
    start = (
        f"{f'slave {replica.broker_id}':<{_NAME}}{behind:>7} bytes behind "
        f"{_clip(replica.broker, _BROKER):<{_BROKER}} "
    )
    drawn = chart(history.levels(lag), ink.ramp, _LAG_BYTES_SEEN)
    room = WIDTH - len(start) - COLUMNS - 1
    verdict = ink.green("in sync") if replica.is_in_sync else _why(replica, room, ink)
    return f"{start}{ink.yellow(drawn)} {verdict}"


def _why(replica: ReplicaFigures, room: int, ink: Ink) -> str:
    return ink.red(_clip(replica.why or "not in sync", room))


def _happening(last: Figures, ink: Ink) -> str:
    if is_slow(last.seconds):
        return ink.yellow(f"{SHIPPING} has a bad time: it falls behind")
    if last.groups[SHIPPING].lag > _LAG_SEEN:
        return ink.yellow(f"{SHIPPING} catches up")
    return ink.green("everybody is up to date")


def _tries(places: Places, tries: Iterable[str], ink: Ink) -> Iterable[str]:
    where = "" if places.nameserver == USUAL else f" -n {places.nameserver}"
    for at, words in enumerate(tries):
        yield ink.dim(_clip(f"{'' if at else 'try':<5}{places.command} {words}{where}"))
    yield ink.dim("Ctrl-C stops everything")


def _clip(text: str, width: int = WIDTH) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _stored(figures: Figures) -> int:
    return sum(figures.stored.values())


def _consumed(figures: Figures) -> int:
    return sum(one.consumed for one in figures.groups.values())
