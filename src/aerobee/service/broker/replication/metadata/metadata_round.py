"""The questions of one round of copying, and the snapshot that their answers make.

    COPY_BROKER_STATE                 versions: has anything moved? Apache's master does not know it
    deleted_topics                    before offsets: those of a deleted topic are gone by then
    GET_ALL_TOPIC_CONFIG, GET_ALL_SUBSCRIPTIONGROUP_CONFIG    if their versions have moved
    GET_ALL_CONSUMER_OFFSET, GET_ALL_DELAY_OFFSET, GET_ALL_MESSAGE_REQUEST_MODE
    GET_TIMER_CHECK_POINT, GET_TIMER_METRICS
    producerSequences.json, producerEpochs.json, …            by COPY_BROKER_STATE, if they changed
    GET_BROKER_RUNTIME_INFO           last: the end of the log that all of it speaks of

A master whose timer is off has no checkpoint, and an older one no request modes: these are left as
they are.

Imports more than 15 modules because it knows every request of the round.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.assignment import RequestMode, decode_request_modes
from aerobee.protocol.bodies.broker_state import BrokerVersions, decode_broker_versions
from aerobee.protocol.bodies.small_tables import decode_text_table
from aerobee.protocol.headers.replicating import NO_CRC
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.fields import Fields
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, parse_tables
from aerobee.service.broker.replication.metadata.state_files import DELETED_TOPICS, READ_ORDER
from aerobee.service.broker.replication.metadata.table_copy import (
    CopiedGroups,
    CopiedTopics,
    copy_groups,
    copy_topics,
)
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsetsSnapshot, offsets_from
from aerobee.service.broker.state.delay_offsets import CopiedDelayOffsets, delay_offsets_from
from aerobee.service.file_copy import copy_file
from aerobee.service.question import Question, ask, require
from aerobee.storage.index.deleted_topics import parse_deleted
from aerobee.storage.timer.timer_checkpoint import TimerCheck, decode_check


class Known(NamedTuple):
    """What the slave has from the master already."""

    topics: DataVersion | None
    groups: DataVersion | None
    crcs: Mapping[str, int]
    """The CRC-32 of copied state files, by name."""


class MetadataSnapshot(NamedTuple):
    topics: CopiedTopics | None
    """None: the known ones; as for groups."""
    groups: CopiedGroups | None
    offsets: ConsumerOffsetsSnapshot
    delays: CopiedDelayOffsets
    modes: list[RequestMode] | None
    timer: TimerCheck | None
    timer_metrics: bytes | None
    files: Mapping[str, bytes]
    """The content of state files that changed, by name; empty: the master has none."""
    deleted: Mapping[bytes, int]
    """Deleted topics, and the log offset of the deletion."""
    started_ms: int
    """Wall time of the master's start."""
    log_end: int
    """No part of the snapshot speaks of a record at or after this log offset."""


class Look(NamedTuple):
    """The answer to a look at the master."""

    versions: BrokerVersions | None
    """None: the master does not know COPY_BROKER_STATE."""
    snapshot: MetadataSnapshot | None
    """None: nothing has moved."""


def look_again(seen: BrokerVersions, known: Known) -> Question[Look]:
    """Copy everything if versions have moved from those of the last look."""
    versions = yield from _versions()
    if versions == seen:
        return Look(versions, None)
    return Look(versions, (yield from _snapshot(known, versions)))


def copy_all(known: Known, *, asks_state: bool) -> Question[Look]:
    """Copy everything. `asks_state`: the master may know COPY_BROKER_STATE."""
    versions = (yield from _versions()) if asks_state else None
    return Look(versions, (yield from _snapshot(known, versions)))


def _versions() -> Question[BrokerVersions | None]:
    """None: the master does not know the request."""
    answer = yield from ask(RequestCode.COPY_BROKER_STATE)
    if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        return None
    if answer.code != ResponseCode.SUCCESS:
        raise RemoteProtocolError(f"it refused COPY_BROKER_STATE: {answer.remark}"[:500])
    return decode_broker_versions(bytes(answer.body))


class Progress(NamedTuple):
    """The progress of features: how far each has delivered."""

    offsets: ConsumerOffsetsSnapshot
    delays: CopiedDelayOffsets
    timer: TimerCheck | None


def copy_progress() -> Question[Progress]:
    """Copy the progress of a broker that has acted as master."""
    offsets = yield from _offsets()
    delays = yield from _delays()
    timer = yield from _timer()
    return Progress(offsets, delays, timer)


def _snapshot(known: Known, versions: BrokerVersions | None) -> Question[MetadataSnapshot]:
    deleted: Mapping[bytes, int] = {}
    if versions is not None:
        deleted = parse_deleted((yield from copy_file(DELETED_TOPICS)) or b"", DELETED_TOPICS)
    topics, groups = None, None
    if versions is None or versions.topics != known.topics:
        topics = yield from copy_topics(known.topics)
    if versions is None or versions.groups != known.groups:
        groups = yield from copy_groups(known.groups)
    offsets = yield from _offsets()
    delays = yield from _delays()
    modes = yield from _modes()
    timer = yield from _timer()
    timer_metrics = yield from _timer_metrics()
    files = {}
    for name in READ_ORDER if versions is not None else ():
        content = yield from copy_file(name, known.crcs.get(name, NO_CRC))
        if content is not None:
            files[name] = content
    answer = yield from require(RequestCode.GET_BROKER_RUNTIME_INFO)
    figures = Fields(decode_text_table(bytes(answer.body)))
    return MetadataSnapshot(
        topics,
        groups,
        offsets,
        delays,
        modes,
        timer,
        timer_metrics,
        files,
        deleted,
        figures.int64("bootTimestamp", 0),
        figures.int64("commitLogMaxOffset"),
    )


def _offsets() -> Question[ConsumerOffsetsSnapshot]:
    answer = yield from require(RequestCode.GET_ALL_CONSUMER_OFFSET)
    return offsets_from(Members(parse_tables(bytes(answer.body)), "the master's table of offsets"))


def _delays() -> Question[CopiedDelayOffsets]:
    answer = yield from require(RequestCode.GET_ALL_DELAY_OFFSET)
    return delay_offsets_from(Members(parse(bytes(answer.body)), "the master's delay offsets"))


def _modes() -> Question[list[RequestMode] | None]:
    answer = yield from ask(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
    if answer.code != ResponseCode.SUCCESS:
        return None
    return decode_request_modes(bytes(answer.body))


def _timer() -> Question[TimerCheck | None]:
    answer = yield from ask(RequestCode.GET_TIMER_CHECK_POINT)
    if answer.code != ResponseCode.SUCCESS:
        return None
    found = decode_check(bytes(answer.body))
    if found is None:
        raise RemoteProtocolError("GET_TIMER_CHECK_POINT has no checkpoint")
    return found[0]


def _timer_metrics() -> Question[bytes | None]:
    answer = yield from ask(RequestCode.GET_TIMER_METRICS)
    if answer.code != ResponseCode.SUCCESS:
        return None
    body = bytes(answer.body)
    Members(parse(body), "GET_TIMER_METRICS")
    return body
