"""Figures of a Raft group → lines of text: a picture of 80 columns and 24 lines, or one line for a
log. Pure functions of the figures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aerobee.app.demo.group_figures import DOWN, LEADER, PAUSED, MemberFigures, RaftFigures
from aerobee.app.demo.ledger import Ledger
from aerobee.app.demo.picture import WIDTH, number
from aerobee.app.ink import Ink

LOSSES_SHOWN = 6
CHART_COLUMNS = 40
COLUMN_SECONDS = 0.5
KEYS = "k kills the leader   s stops it   p pauses it   Ctrl-C stops everything"


@dataclass(slots=True)
class Loss:
    """A leader that was broken on purpose, and how its group went on."""

    clock: str
    """The time of day."""
    did: str
    """killed, stopped or paused."""
    node: int
    since: float
    gap_seconds: float | None = None
    """The longest time without an acknowledged send; None: it is not over yet."""
    successor: int = -1
    acknowledged: int = 0
    """Sends before it."""


@dataclass(frozen=True, slots=True)
class GroupPlaces:
    nameserver: str
    data: str
    command: str
    """How this shell calls `aerobee`."""


def group_picture(
    seconds: float,
    group: RaftFigures,
    ledger: Ledger,
    rates: Sequence[int],
    losses: Sequence[Loss],
    places: GroupPlaces,
    warning: str,
    ink: Ink,
) -> list[str]:
    """`rates`: acknowledged sends of the last columns of the chart, the newest last."""
    minutes, rest = divmod(int(seconds), 60)
    title, where = "Aerobee demo: a Raft group", f"name server {places.nameserver}"
    state = f"up {minutes}:{rest:02}   term {group.term}   data {places.data}"
    lines = [
        ink.bold(title) + f"{where:>{WIDTH - len(title)}}"[: WIDTH - len(title)],
        ink.dim(_clip(state)),
        "",
        ink.bold(f"{'MEMBER':<8}{'ADDRESS':<23}{'':<10}{'BYTES BEHIND':>13}"),
        *(_member(one, ink) for one in group.members),
        "",
        *_counts(ledger, rates, ink),
        "",
        *_losses(losses, ledger, ink),
        "",
        ink.bold(KEYS),
        ink.dim(_clip(f"try  {places.command} broker replicas")),
    ]
    if warning:
        lines[-1] = ink.yellow(_clip(warning))
    return lines


def group_line(group: RaftFigures, ledger: Ledger) -> str:
    """Return the figures in one line, for a log."""
    leader = next((f"n{one.node}" for one in group.members if one.role == LEADER), "nobody")
    behind = max((one.lag_bytes or 0 for one in group.members), default=0)
    return (
        f"demo: {leader} leads, term {group.term}, {behind:,} bytes behind, "
        f"acknowledged {ledger.acknowledged:,}, lost {ledger.lost}"
    )


def _member(member: MemberFigures, ink: Ink) -> str:
    start = f"{f'n{member.node}':<8}{member.address:<23}"
    role = f"{member.role:<10}"
    if member.role == LEADER:
        return start + ink.green(role)
    if member.role in (DOWN, PAUSED):
        return start + ink.red(role)
    behind = "?" if member.lag_bytes is None else number(member.lag_bytes, 13)
    return f"{start}{role}{behind:>13}" + ink.yellow(_clip(f"  {member.why}", WIDTH - 54))


def _counts(ledger: Ledger, rates: Sequence[int], ink: Ink) -> Iterable[str]:
    peak, top = max((*rates, 1)), len(ink.ramp) - 1
    chart = "".join(ink.ramp[round(one / peak * top)] for one in rates[-CHART_COLUMNS:])
    yield f"{'acknowledged':<15}{ledger.acknowledged:>10,}  {ink.green(chart)}"
    yield f"{'read back':<15}{ledger.read:>10,}"
    yield f"{'failed':<15}{ledger.failed:>10,}"
    lost = f"{'lost':<15}{ledger.lost:>10,}"
    yield ink.red(lost) if ledger.lost else ink.green(lost)
    order = f"{'out of order':<15}{ledger.out_of_order:>10,}"
    yield ink.red(order) if ledger.out_of_order else order
    yield f"{'twice':<15}{ledger.twice:>10,}  {ink.dim('tried again, because no answer came')}"


def _losses(losses: Sequence[Loss], ledger: Ledger, ink: Ink) -> Iterable[str]:
    if not losses:
        yield "Nothing was broken yet: press k to kill the leader, and see who takes over."
        return
    for one in losses[-LOSSES_SHOWN:]:
        start = f"{one.clock}  n{one.node} {one.did:<8}"
        if one.gap_seconds is None:
            yield start + ink.yellow("nothing is acknowledged yet")
            continue
        since = ledger.acknowledged - one.acknowledged
        yield (
            start
            + ink.bold(f"{one.gap_seconds * 1000:>6,.0f} ms")
            + f"  n{one.successor} leads, {since:,} acknowledged since"
        )


def _clip(text: str, width: int = WIDTH) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
