"""The clock's judge: this machine's clock, and its difference to the brokers' clocks.

Brokers report their running time in whole seconds; so the difference is known to about a second.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding

AREA = "clock"
OFFSET_WARN = 2.0
OFFSET_BAD = 30.0
JUMP_SECONDS = 0.1
_QUICK_SOURCES = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen")


@dataclass(frozen=True, slots=True)
class ClockFacts:
    is_synchronized: bool | None = None
    """Whether the kernel says that something keeps it right. None: it does not say."""
    source: str = ""
    jumped_seconds: float = 0.0
    """How far wall time and the machine's steady clock went apart while it was looked at."""
    is_steady: bool = True
    """Whether the steady clock never went back."""
    offsets: Mapping[str, float] = field(default_factory=dict)
    """By broker, in seconds: how far it is ahead of this machine."""


def clock_findings(facts: ClockFacts) -> list[Finding]:
    found = []
    if facts.is_synchronized is not None:
        found.append(_synchronized(facts.is_synchronized))
    if facts.source:
        found.append(_source(facts.source))
    found.append(_steady(facts))
    found += [_offset(broker, offset) for broker, offset in facts.offsets.items()]
    return found


def broker_offset(boot_ms: int, runtime_seconds: int, before_ms: float, after_ms: float) -> float:
    """Return how many seconds a broker's clock is ahead, from its boot time, its reported running
    time, and the time of the request. A difference within the uncertainty counts as 0."""
    earliest = boot_ms + runtime_seconds * 1000
    latest = earliest + 1000
    if latest < before_ms:
        return (latest - before_ms) / 1000
    if earliest > after_ms:
        return (earliest - after_ms) / 1000
    return 0.0


def _synchronized(is_so: bool) -> Finding:
    subject = "synchronization"
    if is_so:
        return Finding(OK, AREA, subject, "the kernel's clock is kept right")
    return Finding(
        WARN,
        AREA,
        subject,
        "nothing keeps the kernel's clock right",
        "run an NTP client: chrony or systemd-timesyncd",
        "delays, retention and searches by time go by wall clocks, and brokers' must agree",
        ("timedatectl set-ntp true",),
    )


def _source(source: str) -> Finding:
    if source in _QUICK_SOURCES:
        return Finding(OK, AREA, "clock source", source)
    return Finding(
        WARN,
        AREA,
        "clock source",
        source,
        "use tsc, or what the hypervisor offers",
        "asking for the time is a call into the kernel with this one, and it is asked for often",
        (
            "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
    )


def _steady(facts: ClockFacts) -> Finding:
    subject = "steadiness"
    if facts.is_steady and abs(facts.jumped_seconds) < JUMP_SECONDS:
        return Finding(OK, AREA, subject, "never went back, never jumped while it was looked at")
    seen = "it went back" if not facts.is_steady else f"jumped by {facts.jumped_seconds:.2f} s"
    return Finding(
        BAD,
        AREA,
        subject,
        seen,
        "have one clock service only, which slews and does not set",
        "messages for a time come early or late, and logs are not in order",
    )


def _offset(broker: str, offset: float) -> Finding:
    subject = f"time of {broker}"
    if abs(offset) < OFFSET_WARN:
        return Finding(OK, AREA, subject, "as here, to a second or two")
    where = "ahead of" if offset > 0 else "behind"
    return Finding(
        BAD if abs(offset) >= OFFSET_BAD else WARN,
        AREA,
        subject,
        f"{abs(offset):.0f} s {where} this machine",
        "set both by NTP",
        "latencies seem negative or huge, and messages for a time come when it is another here",
    )
