"""What held a run back, in one sentence with its figure.

    refused      the broker said no: back-pressure
    broker       a thread of its process never rested
    client       a thread of a worker never rested
    machine      all cores were busy, and nobody alone was the reason
    disk         the broker's disk always had something to do
    window       as many requests were in flight as may be (Little: rate = in flight ÷ time each)
    none         the wanted rate was held: what was due was sent
    unknown      none of these

Little's law tells a window that is too small from a broker that is too slow: with the window full
and nobody busy, more in flight would be more messages a second.
"""

from dataclasses import dataclass

from aerobee.app.load.measure.usage import Usage

BUSY_THREAD = 0.9
BUSY_MACHINE = 0.95
BUSY_DISK = 0.9
FULL_WINDOW = 0.9
HELD = 0.99
REFUSED = 0.001


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


@dataclass(frozen=True, slots=True)
class Verdict:
    cause: str
    sentence: str


def verdict(facts: LoadFacts) -> Verdict:
    usage = facts.usage
    tried = facts.messages + facts.errors
    if tried == 0:
        return Verdict("unknown", f"Nothing was {facts.unit}.")
    if facts.errors > tried * REFUSED:
        share = 100 * facts.errors / tried
        said = f" ({facts.first_error})" if facts.first_error else ""
        return Verdict(
            "refused",
            f"Back-pressure: {facts.errors:,} of {tried:,} sends failed, {share:.1f} %{said}.",
        )
    if facts.wanted is not None and facts.messages >= (tried + facts.unsent) * HELD:
        return Verdict("none", f"Nothing saturated: {facts.rate:,.0f}/s was held; {_rest(usage)}.")
    lead = "" if facts.wanted is None else f"{facts.wanted:,.0f}/s was not held. "
    cause, sentence = _saturated(facts)
    return Verdict(cause, lead + sentence)


def _saturated(facts: LoadFacts) -> tuple[str, str]:
    usage = facts.usage
    if usage.broker.busiest_thread >= BUSY_THREAD:
        return "broker", (
            f"The broker's CPU: its busiest thread was at "
            f"{usage.broker.busiest_thread:.0%} of a core; {_rest(usage)}."
        )
    if usage.client.busiest_thread >= BUSY_THREAD:
        return "client", (
            f"The client's CPU: a worker's thread was at "
            f"{usage.client.busiest_thread:.0%} of a core; try more --processes."
        )
    if usage.machine >= BUSY_MACHINE:
        parts = f"the load {usage.client.cores:.1f}"
        if usage.broker.is_known:
            parts += f", the broker {usage.broker.cores:.1f}"
        others = usage.machine * usage.cores - usage.client.cores - usage.broker.cores
        return "machine", (
            f"The machine: {usage.machine:.0%} of its {usage.cores} cores were busy, {parts}, "
            f"others {max(0.0, others):.1f}."
        )
    if usage.disk_busy >= BUSY_DISK:
        return "disk", (
            f"The broker's disk: it had something to do {usage.disk_busy:.0%} of the time, "
            f"{usage.disk_written_a_second / 1e6:,.0f} MB/s written."
        )
    if facts.window and facts.in_flight >= facts.window * FULL_WINDOW:
        each_ms = 1000 * facts.in_flight * facts.batch / facts.rate if facts.rate else 0.0
        return "window", (
            f"The window: {facts.in_flight:.0f} of {facts.window} requests in flight, "
            f"{each_ms:.2f} ms each, can be no more than {facts.rate:,.0f}/s "
            "(Little's law); try more --in-flight."
        )
    return "unknown", f"Nothing on this machine was at its end: {_rest(usage)}."


def _rest(usage: Usage) -> str:
    parts = [f"client {usage.client.busiest_thread:.0%}"]
    if usage.broker.is_known:
        parts.append(f"broker {usage.broker.busiest_thread:.0%} of a core")
    if usage.is_disk_known:
        parts.append(f"its disk {usage.disk_busy:.0%}")
    parts.append(f"machine {usage.machine:.0%}")
    return ", ".join(parts)
