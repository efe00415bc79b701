"""Metrics of replication: of a master each slave's lag, of a slave its own, of both the role.

A slave is named by its host, because its port is another one after each connection; two slaves on
one host are named by host and port. A lag that is not known is left out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from aerobee.model.metric import Metric, Sample, gauge, single_gauge
from aerobee.model.replica_status import (
    FOLLOWING,
    UNKNOWN,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.ports.clock import Now


class ReplicaMetrics:
    """A provider of metrics, over the function that returns a broker's status."""

    def __init__(self, status: Callable[[Now], ReplicaStatus]) -> None:
        self._status = status

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield from replica_metrics(self._status(now))


def replica_metrics(status: ReplicaStatus) -> Iterator[Metric]:
    is_master = isinstance(status, MasterStatus)
    yield single_gauge("aerobee_replica_is_master", "1 for a master, 0 for a slave", int(is_master))
    yield single_gauge(
        "aerobee_replica_end_offset", "Where the broker's log ends", status.end_offset
    )
    if isinstance(status, SlaveStatus):
        yield from _of_slave(status)
    else:
        yield from _of_master(status)


def _of_master(status: MasterStatus) -> Iterator[Metric]:
    yield single_gauge(
        "aerobee_replicas_connected", "Slaves that are connected", len(status.replicas)
    )
    yield single_gauge(
        "aerobee_replicas_in_sync",
        "Brokers that have the log, the master included",
        1 + status.in_sync,
    )
    yield single_gauge(
        "aerobee_replicas_wanted",
        "Brokers that must have a message before it is acknowledged, the master included",
        status.copies_wanted,
    )
    named = _named(status.replicas)
    yield gauge(
        "aerobee_replica_ack_offset",
        "The log offset up to which a slave has acknowledged",
        [Sample({"replica": name}, one.ack_offset) for name, one in named],
    )
    yield gauge(
        "aerobee_replica_lag_bytes",
        "Bytes of the log that a slave has not acknowledged",
        [Sample({"replica": name}, one.lag_bytes) for name, one in named],
    )
    yield gauge(
        "aerobee_replica_lag_seconds",
        "How long a slave has not acknowledged the oldest of them",
        [
            Sample({"replica": name}, one.lag_ms / 1000)
            for name, one in named
            if one.lag_ms != UNKNOWN
        ],
    )


def _of_slave(status: SlaveStatus) -> Iterator[Metric]:
    yield single_gauge(
        "aerobee_slave_follows",
        "1 while the slave copies its master's log",
        int(status.state == FOLLOWING),
    )
    if status.lag_bytes != UNKNOWN:
        yield single_gauge(
            "aerobee_slave_lag_bytes",
            "Bytes of its master's log that the slave lacks",
            status.lag_bytes,
        )
    if status.lag_ms != UNKNOWN:
        yield single_gauge(
            "aerobee_slave_lag_seconds",
            "How long the slave has lacked the oldest of them",
            status.lag_ms / 1000,
        )


def _named(replicas: Sequence[ReplicaLag]) -> list[tuple[str, ReplicaLag]]:
    hosts = Counter(_host(one.address) for one in replicas)
    return [
        (one.address if hosts[_host(one.address)] > 1 else _host(one.address), one)
        for one in replicas
    ]


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")
