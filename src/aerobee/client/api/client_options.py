"""`ClientOptions`: the settings of a client, checked, and `seconds_of` for durations.

Every option has a unit in its type or its name. A duration is a `timedelta` or a number of seconds.
"""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from aerobee.client.api.keyword_check import check_keywords
from aerobee.client.core.send.latency_faults import LATENCY_TABLE
from aerobee.client.core.target import Target, parse_target
from aerobee.errors import Misuse
from aerobee.model.access import Credentials
from aerobee.net.tls_context import client_context

Duration = timedelta | float | int
AvoidSlow = bool | Sequence[tuple[int, int]]
"""Whether sends avoid brokers that were slow of late, or by which table (`core.latency_faults`)."""
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
READER_GROUP = "AEROBEE_READER"
"""In whose name queues are read that nobody's progress is kept of."""
_AS_SAID = ("unit", "max_message_bytes", "trace")
_DURATIONS = ("timeout", "connect_timeout")


def seconds_of(duration: Duration, name: str = "a duration") -> float:
    """The seconds of a duration. Misuse for a value that is no duration, or a negative one."""
    if isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif isinstance(duration, bool) or not isinstance(duration, int | float):
        raise Misuse(f"{name} is {duration!r}", hint="give a timedelta or a number of seconds")
    else:
        seconds = float(duration)
    if not 0 <= seconds < float("inf"):
        raise Misuse(f"{name} is {seconds} s", hint="a duration is not negative and ends")
    return seconds


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Settings of a client. O1. Durations are in seconds, and all are positive."""

    name_servers: tuple[str, ...]
    credentials: Credentials | None = None
    namespace: str = ""
    tls: ssl.SSLContext | None = None
    unit: str = ""
    group: str = "CLIENT_INNER_PRODUCER"
    """The producer group of sends that name none, as every Java client has it."""
    timeout: float = 3.0
    """For one request, or for a send with all its tries."""
    connect_timeout: float = 3.0
    route_seconds: float = 30.0
    """How often routes are asked for again. Longer: changes are noticed later, by an error."""
    heartbeat_seconds: float = 30.0
    """A broker forgets a client after 120 s."""
    trace: bool = False
    """Whether the way of each message is written to RocketMQ's trace topic."""
    max_message_bytes: int = MESSAGE_BYTES_MAX
    """A larger body is refused here. A broker has its own limit, maxMessageSize."""
    latency_table: tuple[tuple[int, int], ...] = ()
    """How long brokers that were slow are left alone (`core.latency_faults`). Empty: never."""

    def __post_init__(self) -> None:
        for name in ("timeout", "connect_timeout", "route_seconds", "heartbeat_seconds"):
            if getattr(self, name) <= 0:
                raise Misuse(f"{name} must be more than nothing")


class AdminKeywords(TypedDict, total=False):
    """What `aerobee.admin` takes by keyword. A duration is a timedelta or seconds."""

    credentials: Credentials | None
    tls: ssl.SSLContext | bool | None
    timeout: Duration
    connect_timeout: Duration


class ClientKeywords(AdminKeywords, total=False):
    """What `aerobee.connect` takes by keyword."""

    namespace: str
    unit: str
    max_message_bytes: int
    trace: bool
    avoid_slow_brokers: AvoidSlow


def options_for(target: str | Target, **said: Unpack[ClientKeywords]) -> ClientOptions:
    """The options of a client. A keyword takes precedence over the same setting in the target."""
    check_keywords(said, ClientKeywords.__optional_keys__, "a client")
    place = target if isinstance(target, Target) else parse_target(target)
    tls = said.get("tls")
    context: ssl.SSLContext | None = tls if isinstance(tls, ssl.SSLContext) else None
    if context is None and (tls is True or (tls is None and place.is_tls)):
        context = client_context(place.authority, place.certificate, place.key)
    all_said: dict[str, Any] = {**said}
    chosen = {name: all_said[name] for name in _AS_SAID if name in said}
    for name in _DURATIONS:
        if name in said:
            chosen[name] = seconds_of(all_said[name], name)
    return ClientOptions(
        name_servers=place.name_servers,
        credentials=said.get("credentials") or place.credentials,
        namespace=said.get("namespace") or place.namespace,
        tls=context,
        latency_table=_latency_table(said.get("avoid_slow_brokers", False)),
        **chosen,
    )


def _latency_table(avoid_slow_brokers: AvoidSlow) -> tuple[tuple[int, int], ...]:
    if isinstance(avoid_slow_brokers, bool):
        return LATENCY_TABLE if avoid_slow_brokers else ()
    return tuple(avoid_slow_brokers)
