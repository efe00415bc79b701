"""The verdict of a load test names the resource that held the run back, with the figures for it.

    refused      the broker answered sends with an error: back-pressure
    broker       a thread of a broker's process had work nearly all the time
    client       a thread of a worker's process had work nearly all the time
    machine      such a thread waited for a core, or client and broker did most of the time
    disk         the broker waited for its disk most of the time, and several requests with it
    window       none of these was busy, and as many requests were in flight as may be
    none         the wanted rate was held: all that was due was sent, and received
    unknown      none of these

A thread is busy while it runs and while it waits for a core: both are work that is not done yet.
Its CPU time alone shows a saturated thread as an idle one whenever the cores are shared.

Without a rate the window is always full: a lane that got its answer sends again. A full window is
therefore evidence of nothing, and the window is judged last. It is the limit when client, broker,
disk and cores all have time left; then rate = requests in flight ÷ time of each (Little's law).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.app.load.measure.usage import PartUsage, Usage

BUSY = 0.8
"""From here on a thread is saturated. It is less than 1 because kernels may count the interrupts
that interrupt a thread to nobody, and a loop rests for moments even when it limits a run."""
WAITED = 0.2
"""A busy thread that waited for a core for so long would do a quarter more with a core free."""
WAITED_MOST = 0.5
"""While no thread is busy, half of the time spent waiting is more than anything else: for the disk,
or for cores, client and broker together."""
BUSY_MACHINE = 0.95
"""Where the kernel does not say how long threads waited."""
FULL_WINDOW = 0.9
IN_LINE = 1.5
"""Requests in flight: with one at a time none waits behind another, however slow the disk is."""
HELD = 0.99
REFUSED = 0.001
OVERDUE_SECONDS = 0.5
"""The last answers may take so long without a rate being missed."""
TRAILING_SECONDS = 1.0
TRAILING_SHARE = 0.1
"""Of the senders' time. Consumers may need so much more, and a second in any case."""
FREE_CORES = 0.5
"""So many idle cores are worth one more process."""
SYNC_FLUSH = "SYNC_FLUSH"
RECEIVING = "receiving "


@dataclass(frozen=True, slots=True)
class LoadFacts:
    """Of the measured part of one run."""

    rate: float
    wanted: float | None
    messages: int
    errors: int
    in_flight: float
    """On the average."""
    window: int
    """At most, in all processes together; 0: nothing was sent."""
    batch: int
    usage: Usage
    first_error: str = ""
    unit: str = "sent"
    unsent: int = 0
    """Due, and never sent."""
    overdue: float = 0.0
    """Seconds that a run of a fixed count took longer than its rate asks for."""
    behind: str = ""
    """The sentence of `consumers_behind`."""
    workers: Sequence[str] = ()
    """Names of the workers, in the order of their processes."""
    brokers: Sequence[str] = ()
    """Names of the brokers on this machine, in the order of their processes."""
    flush: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    cause: str
    sentence: str


def verdict(facts: LoadFacts) -> Verdict:
    usage = facts.usage
    tried = facts.messages + facts.errors
    # A rate that is far too high leaves what is due in the measured time unsent.
    if tried == 0 and usage.client.busy < BUSY and not facts.unsent:
        return Verdict("unknown", f"Nothing was {facts.unit}.")
    if facts.errors > tried * REFUSED:
        share = 100 * facts.errors / tried
        said = f" ({facts.first_error})" if facts.first_error else ""
        return Verdict(
            "refused",
            f"Back-pressure: {facts.errors:,} of {tried:,} sends failed, {share:.1f} %{said}; "
            f"{_rest(usage)}.",
        )
    if _is_held(facts, tried) and not facts.behind:
        return Verdict("none", f"Nothing saturated: {facts.rate:,.0f}/s was held; {_rest(usage)}.")
    lead = facts.behind
    if facts.wanted is not None and not _is_held(facts, tried):
        lead = f"{facts.wanted:,.0f}/s was not held. {lead}"
    cause, sentence = _saturated(facts)
    return Verdict(cause, lead + sentence)


def consumers_behind(sent: int, sent_seconds: float, received: int, received_seconds: float) -> str:
    """The sentence that says how consumers fell behind, with a space after it; empty if they kept
    up. `sent` is counted once for each group."""
    if received < sent * HELD:
        return f"Consumers received {received:,} of {sent:,} messages. "
    trailing = received_seconds - sent_seconds
    if trailing > max(TRAILING_SECONDS, sent_seconds * TRAILING_SHARE):
        return f"Consumers needed {trailing:.1f} s more than the senders. "
    return ""


def _is_held(facts: LoadFacts, tried: int) -> bool:
    if facts.wanted is None or not facts.messages:
        return False
    late = facts.overdue > OVERDUE_SECONDS + (1 - HELD) * tried / facts.wanted
    return not late and facts.messages >= (tried + facts.unsent) * HELD


def _saturated(facts: LoadFacts) -> tuple[str, str]:
    usage = facts.usage
    cause, part = max(("broker", usage.broker), ("client", usage.client), key=_share)
    has_line = facts.window == 0 or facts.in_flight >= IN_LINE
    disk = usage.disk_waited if has_line else 0.0
    if part.busy >= BUSY:
        # Only with a synchronous flush does a send wait for the disk while a thread has work.
        if facts.flush == SYNC_FLUSH and disk > part.busy:
            return "disk", _disk_sentence(facts)
        if part.busiest_waited >= WAITED:
            return "machine", _machine_sentence(facts, cause, part)
        return cause, _thread_sentence(facts, cause, part)
    waited = usage.client.busiest_waited + usage.broker.busiest_waited
    if disk >= max(WAITED_MOST, waited):
        return "disk", _disk_sentence(facts)
    is_full = not usage.client.is_wait_known and usage.machine >= BUSY_MACHINE
    if waited >= WAITED_MOST or is_full:
        return "machine", _machine_sentence(facts, cause, part)
    # Without a rate a lane that got its answer sends again: the window is full by itself.
    if facts.window and (facts.wanted is None or facts.in_flight >= facts.window * FULL_WINDOW):
        return "window", _window_sentence(facts)
    more = "" if facts.unit == "sent" else "; try more --consumers or --queues"
    return "unknown", f"Nothing on this machine was at its end: {_rest(usage)}{more}."


def _share(side: tuple[str, PartUsage]) -> float:
    return side[1].busy


def _thread_sentence(facts: LoadFacts, cause: str, part: PartUsage) -> str:
    usage = facts.usage
    said = (
        f"The {cause}'s CPU: {_name(facts, cause)} was busy {part.busy:.0%} of the time, "
        f"{part.busiest_thread:.0%} on a core and {part.busiest_waited:.0%} waiting for one; "
        f"{_rest(usage, cause)}; "
    )
    if cause == "broker":
        return said + f"try {'a larger --batch, or ' if facts.unit == 'sent' else ''}more brokers."
    if _name(facts, cause).startswith(RECEIVING):
        return said + "one process receives: try fewer --groups."
    if (1 - usage.machine) * usage.cores < FREE_CORES:
        return said + "no core is free for more --processes: try another machine for the load."
    senders = [name for name in facts.workers if not name.startswith(RECEIVING)]
    return said + f"try --processes {len(senders) + 1}."


def _machine_sentence(facts: LoadFacts, cause: str, part: PartUsage) -> str:
    usage = facts.usage
    parts = f"the load {usage.client.cores:.1f}"
    if usage.broker.is_known:
        parts += f", the broker {usage.broker.cores:.1f}"
    others = usage.machine * usage.cores - usage.client.cores - usage.broker.cores
    said = (
        f"The machine: {usage.machine:.0%} of its {usage.cores} cores were busy, {parts}, "
        f"others {max(0.0, others):.1f}; {_name(facts, cause)} was busy {part.busy:.0%} of the "
        f"time, {part.busiest_thread:.0%} on a core and {part.busiest_waited:.0%} waiting for "
        f"one; {_rest(usage, cause, 'machine')}"
    )
    if usage.machine < BUSY:
        return said + "; is it bound to some cores (taskset), or limited (cgroup)?"
    if others > usage.cores / 2:
        return said + "; most of it went to others."
    return said + "; try another machine for the load."


def _disk_sentence(facts: LoadFacts) -> str:
    usage = facts.usage
    is_sync = facts.flush == SYNC_FLUSH
    said = f"The broker's disk: the broker waited for it {usage.disk_waited:.0%} of the time"
    if is_sync:
        said += f" ({SYNC_FLUSH})"
    if usage.is_disk_known:
        said += (
            f"; it was busy {usage.disk_busy:.0%} of the time, "
            f"{usage.disk_written_a_second / 1e6:,.0f} MB/s written, "
            f"{usage.disk_read_a_second / 1e6:,.0f} MB/s read"
        )
    said += f"; {_rest(usage, 'disk')}; try "
    if is_sync and facts.window:
        said += "more --in-flight, for one sync is for all that wait for it, or "
    return said + "a faster disk."


def _window_sentence(facts: LoadFacts) -> str:
    each_ms = 1000 * facts.in_flight * facts.batch / facts.rate if facts.rate else 0.0
    said = (
        f"The window: {facts.in_flight:.0f} of {facts.window} requests in flight, "
        f"{each_ms:.2f} ms each, can be no more than {facts.rate:,.0f}/s "
        f"(Little's law); {_rest(facts.usage)}; "
    )
    if not facts.usage.broker.is_known:
        said += "if more --in-flight is not faster, it is the broker or the network."
        return said
    return said + "try more --in-flight."


def _name(facts: LoadFacts, cause: str) -> str:
    """Of the process whose thread was the busiest of its side."""
    is_client = cause == "client"
    names = facts.workers if is_client else facts.brokers
    part = facts.usage.client if is_client else facts.usage.broker
    return names[part.busiest] if part.busiest < len(names) else f"the {cause}"


def _rest(usage: Usage, *but: str) -> str:
    """How busy each resource was, but for those that were named already."""
    parts = {"client": f"client {usage.client.busy:.0%}"}
    if usage.broker.is_known:
        parts["broker"] = f"broker {usage.broker.busy:.0%}"
        parts["disk"] = f"waiting for its disk {usage.disk_waited:.0%}"
    else:
        parts["broker"] = "broker unknown"
    parts["machine"] = f"machine {usage.machine:.0%}"
    return ", ".join(text for name, text in parts.items() if name not in but)
