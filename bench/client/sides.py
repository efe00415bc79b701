"""Cases and sides of the comparison: for each client its program, event loop and server.

All asyncio clients run on uvloop, ours once more on asyncio's own loop. A client that has no way to
do a case says so in the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    title: str
    unit: str


@dataclass(frozen=True)
class Side:
    """A client at its server."""

    title: str
    program: str
    """Of `programs.PROGRAMS`."""
    host: str
    """Of `hosts.HOSTS`."""
    packages: Sequence[str] = ()
    """From PyPI, what pip is told."""
    loop: str = "uvloop"

    @property
    def is_ours(self) -> bool:
        return self.program == "aerobee"


CASES: Mapping[str, Case] = {
    "flood": Case("single sends, 256 in flight", "sent/s"),
    "one": Case("single sends, one after the other", "sent/s"),
    "stream": Case("sent without waiting for each", "sent/s"),
    "batch": Case("sent in batches", "sent/s"),
    "receive": Case("received by one process", "received/s"),
}
SIDES: Mapping[str, Side] = {
    "aerobee": Side("aerobee", "aerobee", "aerobee"),
    "asyncio": Side("aerobee, asyncio's loop", "aerobee", "aerobee", loop="asyncio"),
    "aerobee-apache": Side("aerobee, Apache's broker", "aerobee", "apache"),
    "cpp": Side("rocketmq 0.4.4 (C++)", "cpp", "aerobee", ["rocketmq==0.4.4"]),
    "grpc": Side(
        "rocketmq-python-client 5.1.2", "grpc", "apache", ["rocketmq-python-client==5.1.2"]
    ),
    "confluent": Side("confluent-kafka 2.16.1", "confluent", "kafka", ["confluent-kafka==2.16.1"]),
    "aiokafka": Side("aiokafka 0.14.0", "aiokafka", "kafka", ["aiokafka==0.14.0"]),
    "nats": Side("nats-py 2.16.0", "nats", "nats", ["nats-py==2.16.0"]),
    "redis": Side("redis 8.1.0", "redis", "redis", ["redis[hiredis]==8.1.0"]),
}
