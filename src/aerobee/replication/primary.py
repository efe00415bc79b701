"""Primary is the master's side of replication: it sends the log to every slave that asks for it.

    open ─▶ first report ─▶ packets as the link takes them, heartbeats when idle ─▶ closed
            │
            └▶ an offset that cannot be served: closed, with a reason

The log is written from its mapped files, without a copy of ours. A link has a window: when so many
bytes are written and not out yet, nothing more is written to it until it is ready. So a slow slave
holds no more than its window, and the others do not notice it.

While no send waits for slaves, a few new bytes wait up to `GATHER_MS` for more: a packet costs both
sides three system calls.

P1. `push` costs next to nothing when there is no slave, or nothing new and nothing due.
P2. A slave gets the log from its first report on, in order, without a gap; an empty one (report 0)
    from the oldest file on.
"""

import logging
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.replica_link import READY_BYTES
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite, Peer
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import Copy, InSync
from aerobee.replication.replicated_log import ReplicatedLog
from aerobee.replication.transfer import HEADER_BYTES, ReportReader, encode_header

_log = logging.getLogger(__name__)

WINDOW_BYTES = 1 << 20
FIRST_REPORT_MS_MAX = 10_000  # Apache's slave takes 5 s
GATHER_MS = 2
GATHER_BYTES = 256 << 10
TOLD_MAX = 64
_NEVER = 1 << 62

assert WINDOW_BYTES >= READY_BYTES


class FollowerStatus(NamedTuple):
    """A link to a slave, for GET_BROKER_HA_STATUS."""

    peer: Peer
    ack_offset: int
    diff_bytes: int
    is_in_sync: bool
    bytes_in_second: int
    """Sent in the last whole second."""
    transfer_from: int
    """Where the next packet begins; -1 before the first report."""


class _Follower:
    """One link."""

    __slots__ = (
        "copy",
        "is_held_up",
        "last_read_ms",
        "last_write_ms",
        "link",
        "reports",
        "second",
        "second_bytes",
        "second_bytes_before",
        "unready_bytes",
    )

    def __init__(self, copy: Copy, monotonic_ms: int) -> None:
        self.copy = copy
        self.link = copy.link
        self.reports = ReportReader()
        self.last_read_ms = self.last_write_ms = monotonic_ms
        # Written since the link was last ready.
        self.unready_bytes = 0
        # Whether there was more to write than its window or its rate had room for.
        self.is_held_up = False
        # Bytes written in a second of the clock, and in the one before.
        self.second = monotonic_ms // 1000
        self.second_bytes = self.second_bytes_before = 0

    def begin_second(self, monotonic_ms: int) -> None:
        second = monotonic_ms // 1000
        if second != self.second:
            self.second_bytes_before = self.second_bytes if second == self.second + 1 else 0
            self.second, self.second_bytes = second, 0


class Primary:
    """A `ports.replica_link.LinkService`."""

    def __init__(
        self, log: ReplicatedLog, in_sync: InSync, config: ReplicationConfig, log_file_bytes: int
    ) -> None:
        self._log = log
        self._config = config
        self._file_bytes = log_file_bytes
        self._followers: dict[LinkId, _Follower] = {}
        # Everything below was offered to every link that had room.
        self._pushed_to = 0
        self._pushed_ms = 0
        # When a heartbeat, an end of patience or a new second's allowance may be due.
        self._due_ms = _NEVER
        # Refusals that were logged: a slave that is refused comes back every few seconds.
        self._told: dict[tuple[str, str], None] = {}
        self.in_sync = in_sync

    # Links.

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> Effects:
        if is_dialed:
            return [CloseLink(link, "a master follows nobody")]
        self._followers[link] = _Follower(self.in_sync.open(link, peer), now.monotonic_ms)
        self._due_ms = min(self._due_ms, now.monotonic_ms + FIRST_REPORT_MS_MAX)
        return []

    def on_link_failed(self, address: str, reason: str, now: Now) -> Effects:
        return []

    def on_link_closed(self, link: LinkId, now: Now) -> Effects:
        follower = self._followers.pop(link, None)
        if follower is not None:
            self.in_sync.close(follower.copy)
            if follower.copy.has_reported:
                _log.info("a slave is gone", extra={"peer": str(follower.copy.peer)})
        return []

    def on_link_ready(self, link: LinkId, now: Now) -> Effects:
        effects: Effects = []
        follower = self._followers.get(link)
        if follower is not None:
            follower.unready_bytes = 0
            if follower.is_held_up:  # else what is new is for `push`, which gathers
                self._send(follower, self._log.end_offset, now.monotonic_ms, effects)
        return effects

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> Effects:
        effects: Effects = []
        follower = self._followers.get(link)
        if follower is None:  # its close is under way
            return effects
        follower.last_read_ms = now.monotonic_ms
        try:
            follower.reports.receive(bytes(data))
            while follower.reports.advance():
                refusal = self._reported(follower, follower.reports.log_offset, now, effects)
                if refusal:
                    self._refuse(follower, refusal, effects)
                    break
        except RemoteProtocolError as error:
            self._refuse(follower, str(error), effects)
        return effects

    # Reports.

    def _reported(self, follower: _Follower, offset: int, now: Now, effects: Effects) -> str:
        copy = follower.copy
        if copy.has_reported:
            return self.in_sync.acknowledge(copy, offset, now)
        end = self._log.end_offset
        start = offset or self._first_offset(end)
        refusal = self._why_not_from(start, end)
        if refusal:
            return refusal
        self.in_sync.begin(copy, offset, start, end, now)
        self._told = {key: None for key in self._told if key[0] != copy.peer.host}
        _log.info(
            "a slave follows from offset %d, %d bytes behind",
            start,
            end - start,
            extra={"peer": str(copy.peer)},
        )
        follower.last_write_ms = now.monotonic_ms
        self._due_ms = 0
        self._send(follower, end, now.monotonic_ms, effects)
        return ""

    def _first_offset(self, end: int) -> int:
        """Where an empty slave begins."""
        if self._config.begins_at_last_file:
            return max(self._log.min_offset, end - end % self._file_bytes)
        return self._log.min_offset

    def _why_not_from(self, offset: int, end: int) -> str:
        """Why the log cannot be sent from here on; nothing if it can. It may begin inside a record:
        Apache's slave appends what it gets, and asks for the rest of a record after a lost link."""
        if offset < self._log.min_offset:
            return (
                f"it asks for offset {offset}, and the log begins at {self._log.min_offset}: the"
                " slave was away for longer than the master keeps its log; empty its store and"
                " start it again"
            )
        if offset > end:
            return (
                f"it asks for offset {offset}, and the log ends at {end}: the slave has records"
                " that this master never had or has lost; an Aerobee slave cuts them off by itself,"
                " empty the store of an Apache slave and start it again"
            )
        return ""

    def _refuse(self, follower: _Follower, reason: str, effects: Effects) -> None:
        """Close a link; it counts no more from now on."""
        copy = follower.copy
        self._drop(follower, reason, effects)
        # Numbers differ from try to try.
        key = (copy.peer.host, "".join(mark for mark in reason if not mark.isdigit()))
        if key in self._told:
            return
        if len(self._told) >= TOLD_MAX:
            self._told.clear()
        self._told[key] = None
        _log.warning("closing the link of a slave: %s", reason, extra={"peer": str(copy.peer)})

    def _drop(self, follower: _Follower, reason: str, effects: Effects) -> None:
        del self._followers[follower.link]
        self.in_sync.close(follower.copy)
        effects.append(CloseLink(follower.link, reason))

    # The log.

    def push(self, now: Now) -> Effects:
        """Send what is new, and what is due by time. Called after every round of reads that
        appended something, and on ticks."""
        effects: Effects = []
        if not self._followers:
            return effects
        monotonic_ms = now.monotonic_ms
        end = self._log.end_offset
        if end != self._pushed_to and not self._gathers(end, monotonic_ms):
            self._pushed_to, self._pushed_ms = end, monotonic_ms
            self.in_sync.note_end(end, monotonic_ms)
            for follower in list(self._followers.values()):
                self._send(follower, end, monotonic_ms, effects)
        if monotonic_ms >= self._due_ms:
            self._do_due(end, monotonic_ms, effects)
        return effects

    def _gathers(self, end: int, monotonic_ms: int) -> bool:
        """Whether what is new waits for more."""
        return (
            end - self._pushed_to < GATHER_BYTES
            and monotonic_ms - self._pushed_ms < GATHER_MS
            and not self.in_sync.waits
        )

    def _send(self, follower: _Follower, end: int, monotonic_ms: int, effects: Effects) -> None:
        """Write as much as the window has room for."""
        copy = follower.copy
        offset = copy.sent_offset
        follower.is_held_up = offset < end
        if offset >= end or follower.unready_bytes >= WINDOW_BYTES or not copy.has_reported:
            return
        follower.begin_second(monotonic_ms)
        limit = self._config.transfer_bytes
        buffers: list[bytes | memoryview] = []
        room = WINDOW_BYTES - follower.unready_bytes
        while offset < end and room > 0:
            if self._config.limits_rate:
                limit = min(limit, self._config.rate_bytes - follower.second_bytes)
                if limit <= 0:
                    self._due_ms = min(self._due_ms, 1000 * (follower.second + 1))
                    break
            body = self._log.log_slices(offset, limit)
            size = len(body)
            if size == 0:
                reason = self._why_not_from(offset, end) or f"the log has no bytes at {offset}"
                self._refuse(follower, reason, effects)
                return
            buffers.append(encode_header(offset, size))
            buffers.append(body)
            offset += size
            room -= size + HEADER_BYTES
            follower.second_bytes += size
        follower.is_held_up = offset < end
        if buffers:
            copy.sent_offset = offset
            follower.unready_bytes = WINDOW_BYTES - room
            follower.last_write_ms = monotonic_ms
            effects.append(LinkWrite(follower.link, buffers))

    # Time.

    def _do_due(self, end: int, monotonic_ms: int, effects: Effects) -> None:
        """Heartbeats, ends of patience and allowances of a new second; when the next are due."""
        self._due_ms = _NEVER
        silence_ms_max = self._config.silence_ms_max
        for follower in list(self._followers.values()):
            copy = follower.copy
            if not copy.has_reported:
                over_ms = follower.last_write_ms + FIRST_REPORT_MS_MAX
                if monotonic_ms >= over_ms:
                    self._refuse(follower, "it has not said from where to follow", effects)
                    continue
            else:
                over_ms = follower.last_read_ms + silence_ms_max
                if monotonic_ms >= over_ms:
                    reason = f"it has said nothing for {silence_ms_max} ms"
                    self._refuse(follower, reason, effects)
                    continue
                self._send(follower, end, monotonic_ms, effects)
                self._beat(follower, monotonic_ms, effects)
                beat_ms = follower.last_write_ms + self._config.heartbeat_interval_ms
                self._due_ms = min(self._due_ms, max(beat_ms, monotonic_ms + 1))
            self._due_ms = min(self._due_ms, over_ms)

    def _beat(self, follower: _Follower, monotonic_ms: int, effects: Effects) -> None:
        # Not behind bytes that are not out yet: the slave hears from us by them.
        idle_ms = monotonic_ms - follower.last_write_ms
        if idle_ms >= self._config.heartbeat_interval_ms and follower.unready_bytes < WINDOW_BYTES:
            follower.last_write_ms = monotonic_ms
            follower.unready_bytes += HEADER_BYTES
            heartbeat = encode_header(follower.copy.sent_offset, 0)
            effects.append(LinkWrite(follower.link, [heartbeat]))

    def rest_ms(self, now: Now) -> int:
        """For how long `push` need not be called, unless something is appended."""
        if not self._followers:
            return _NEVER
        if self._log.end_offset != self._pushed_to:
            return 0
        return max(0, self._due_ms - now.monotonic_ms)

    # Figures.

    def statuses(self, now: Now) -> list[FollowerStatus]:
        """Every link, in the order in which they came."""
        end = self._log.end_offset
        copies = self.in_sync.statuses(end, now)
        return [
            _status(follower, copy.ack_offset, copy.lag_bytes, copy.is_in_sync, now.monotonic_ms)
            for follower, copy in zip(self._followers.values(), copies, strict=True)
        ]

    def stop(self, now: Now) -> Effects:
        """Close every link: this broker is a master no more, or ends."""
        effects: Effects = []
        for follower in list(self._followers.values()):
            self._drop(follower, "the master stops", effects)
        return effects


def _status(
    follower: _Follower, ack_offset: int, lag_bytes: int, is_in_sync: bool, monotonic_ms: int
) -> FollowerStatus:
    follower.begin_second(monotonic_ms)
    return FollowerStatus(
        follower.copy.peer,
        max(0, ack_offset),
        lag_bytes,
        is_in_sync,
        follower.second_bytes_before,
        follower.copy.sent_offset,
    )
