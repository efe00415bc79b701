"""Results of load tests that were never run, for tests of what is made of them."""

from dataclasses import replace

from aerobee.app.load.measure.cluster_facts import BrokerFacts
from aerobee.app.load.measure.histogram import LatencyHistogram
from aerobee.app.load.measure.usage import PartUsage, Usage
from aerobee.app.load.result.result import Point, Result, Side
from aerobee.app.load.result.verdict import Verdict
from aerobee.app.load.workload.workload import Workload

MS = 1_000_000
BROKER = BrokerFacts("broker-a", "127.0.0.1:10911", "V5_5_0", "ASYNC_FLUSH", "", 77)


def histogram(*values_ms: float) -> LatencyHistogram:
    made = LatencyHistogram()
    for value in values_ms:
        made.record(round(value * MS))
    return made


def part(ran: float, waited: float | None = 0.0, process: int = 0) -> PartUsage:
    """A side with one busy thread. `waited` is None: the kernel does not say it."""
    return PartUsage(
        ran,
        ran,
        40 << 20,
        is_known=True,
        busiest_waited=waited or 0.0,
        busiest=process,
        is_wait_known=waited is not None,
    )


def usage(
    *,
    client: float | PartUsage = 0.2,
    broker: float | PartUsage | None = 0.3,
    machine: float = 0.4,
    disk: float = 0.1,
) -> Usage:
    """`disk` is the share of the time in which the broker waited for it."""
    return Usage(
        10.0,
        4,
        machine,
        1.5,
        8 << 30,
        part(client) if isinstance(client, float) else client,
        part(broker) if isinstance(broker, float) else broker or PartUsage(),
        0.15,
        5e6,
        0.0,
        0.0,
        0.0,
        disk_waited=disk,
    )


def side(messages: int = 1000, seconds: float = 1.0, *values_ms: float, unsent: int = 0) -> Side:
    latency = histogram(*(values_ms or (1.0, 2.0, 3.0)))
    return Side(messages, messages * 100, seconds, {}, latency, LatencyHistogram(), 2.5, unsent)


def result(kind: str = "produce", *, rate: float | None = None, sent: Side | None = None) -> Result:
    workload = Workload(kind=kind, rate=rate)  # type: ignore[arg-type]
    made = Result(
        workload,
        "2026-01-02T03:04:05+00:00",
        [BROKER.to_json()],
        ["aerobee-bench-1-0"],
        sent or side(),
        None,
        [Point(1.0, 1.0, 1000, 0, 0, 100_000, histogram(1.0, 2.0, 3.0), None, 0.5, 0.25)],
        usage(),
        Verdict("none", "Nothing saturated."),
    )
    if workload.is_consuming:
        made = replace(made, received=side(900, 1.0, 4.0, 5.0))
    return replace(made, sent=None) if kind == "consume" else made
