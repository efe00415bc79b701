"""Replica is the slave's side of replication: it follows a master's log and acknowledges it.

    no master known ─▶ connecting ─▶ comparing logs ─▶ (flushing) ─▶ following
                          ▲              │    │                          │
                          │              │    └▶ the log must be cut     │
                          └─ waiting ◀───┴── refused, link lost, silent ─┘

Before the first report the caller compares the logs (`LogCheck`), because the protocol cannot: two
logs of the same length may hold different records. Its verdict is to follow, to cut this log first
(which is done by opening the store anew), or to refuse.

A report acknowledges the end of the log if this broker flushes asynchronously, else the flushed
part. While the store is busy nothing more is read from the link, and what was read is tried again;
if that lasts, the link is given up: a slave that takes nothing must not count as in sync for long.
Whatever else goes wrong ends the link, leaves its reason in `status`, and is tried again after a
pause of 0.2 s that doubles up to 5 s: nothing is tried in a hot loop, and nothing waits for ever.

L1. At most one connection is open or being opened.
L2. Bytes are appended only at the end of the log (`IncomingRecords`); all else ends the link.
"""

import logging
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.errors import AerobeeError, RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import (
    CloseLink,
    Effects,
    LinkId,
    LinkWrite,
    OpenLink,
    Peer,
    ReadLink,
)
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.incoming_records import IncomingRecords
from aerobee.replication.log_growth import LogGrowth
from aerobee.replication.replicated_log import ReplicatedLog
from aerobee.replication.transfer import TransferReader, encode_report

_log = logging.getLogger(__name__)

PAUSE_MS_MIN = 200
PAUSE_MS_MAX = 5_000
BUSY_MS_MAX = 1_000
"""A send of a master waits 3 s for its slaves (slaveTimeout)."""
BUSY_TRY_MS = 10
_NEVER = 1 << 62


class ReplicaState(Enum):
    NO_MASTER = "no master is known"
    CONNECTING = "connecting"
    CHECKING = "comparing logs"
    FLUSHING = "flushing its log"
    FOLLOWING = "following"
    WAITING = "waiting to connect again"
    CUT_NEEDED = "its log must be cut"


class Follow(NamedTuple):
    """The logs agree: follow from this offset, the end of this log. An empty log may follow from
    any offset; 0 asks for all that the master has."""

    log_offset: int


class CutAt(NamedTuple):
    """The logs agree up to here and not further."""

    log_offset: int
    reason: str


class Refuse(NamedTuple):
    """This master cannot be followed."""

    reason: str
    hint: str


Verdict: TypeAlias = Follow | CutAt | Refuse


class LogCheck(Protocol):
    """Compares this broker's log with its master's, by requests to the master."""

    def begin(self, ticket: int, now: Now) -> Effects:
        """Begin to compare; `Replica.checked` is called with the ticket and the verdict later."""


class ReplicaStatus(NamedTuple):
    master: str
    """The master's HA address; empty: none is known."""
    state: ReplicaState
    in_state_ms: int
    offset: int
    """The end of this log."""
    acknowledged: int
    """What the master was told last; -1: nothing on this connection."""
    master_offset: int
    """The end of the master's log, as far as this broker has heard of it."""
    lag_bytes: int
    lag_ms: int
    bytes_in_second: int
    """Received in the last whole second."""
    read_wall_ms: int
    """When something was last received, and last sent; 0: never."""
    write_wall_ms: int
    why_not: str
    """Why it does not follow, or the reason of the last loss; empty if all is well."""
    hint: str


class Replica:
    """A `ports.replica_link.LinkService`. The caller calls `step` on ticks and after rounds."""

    def __init__(
        self,
        log: ReplicatedLog,
        config: ReplicationConfig,
        log_file_bytes: int,
        check: LogCheck,
        *,
        acks_flushed: bool,
    ) -> None:
        """`acks_flushed`: only what is on the disk is acknowledged (SYNC_FLUSH)."""
        self._log = log
        self._config = config
        self._file_bytes = log_file_bytes
        self._check = check
        self._acks_flushed = acks_flushed
        self._master = config.master_ha_address
        self._state = ReplicaState.NO_MASTER
        self._since_ms = 0
        # The address of the OpenLink under way.
        self._dialing: str | None = None
        self._link: LinkId | None = None
        self._ticket = 0
        self._start_offset = 0
        self._reader = TransferReader()
        self._incoming: IncomingRecords | None = None
        # Since when the store is busy, and the link is not read.
        self._busy_ms: int | None = None
        self._acknowledged = -1
        self._pause_ms = PAUSE_MS_MIN
        self._retry_ms = 0
        self._read_ms = self._write_ms = self._data_ms = 0
        self._read_wall_ms = self._write_wall_ms = 0
        self._second = self._second_bytes = self._second_bytes_before = 0
        self._master_offset = 0
        self._growth = LogGrowth()
        self._why_not = self._hint = ""
        self.cut_at: CutAt | None = None
        """Set when this log has parted from the master's: nothing is followed until it is cut."""

    # The master.

    def set_master(self, ha_address: str, now: Now) -> Effects:
        """Follow this master from now on; an empty address: none is known."""
        effects: Effects = []
        if ha_address != self._master:
            self._master = ha_address
            self._master_offset = 0
            self._growth.forget()
            if self._link is not None:
                self._end_link("the master is another now", effects)
            if self.cut_at is None:
                self._enter(ReplicaState.NO_MASTER, now)
                self._pause_ms = PAUSE_MS_MIN
                self._why_not = self._hint = ""
        return effects + self.step(now)

    def note_master_end(self, offset: int, now: Now) -> None:
        """The master's log ends here, or further: the caller has asked it."""
        if offset > self._master_offset:
            self._master_offset = offset
            self._growth.note(offset, now.monotonic_ms)

    # Links.

    @property
    def is_linked(self) -> bool:
        """Whether a link to the master is open."""
        return self._link is not None

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> Effects:
        if not is_dialed:
            return [CloseLink(link, "this broker is a slave: follow its master")]
        address, self._dialing = self._dialing, None
        if address != self._master or self._state is not ReplicaState.CONNECTING:
            return [CloseLink(link, "the master is another now"), *self.step(now)]
        self._link = link
        self._ticket += 1
        self._read_ms = self._write_ms = self._data_ms = now.monotonic_ms
        self._enter(ReplicaState.CHECKING, now)
        return self._check.begin(self._ticket, now)

    def on_link_failed(self, address: str, reason: str, now: Now) -> Effects:
        self._dialing = None
        if address != self._master or self._state is not ReplicaState.CONNECTING:
            return self.step(now)
        effects: Effects = []
        hint = "is the master running, and its HA port (haListenPort) open to this machine?"
        self._lose(f"no connection to {address}: {reason}", hint, now, effects)
        return effects

    def on_link_ready(self, link: LinkId, now: Now) -> Effects:
        return []

    def on_link_closed(self, link: LinkId, now: Now) -> Effects:
        effects: Effects = []
        if link == self._link:
            self._link = None
            hint = "if it happens again and again, the master's log says why"
            self._lose("the master closed the connection", hint, now, effects)
        return effects

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> Effects:
        effects: Effects = []
        if link != self._link:
            return effects
        self._read_ms, self._read_wall_ms = now.monotonic_ms, now.wall_ms
        self._count(len(data), now.monotonic_ms)
        before = self._log.end_offset
        try:
            if self._state is not ReplicaState.FOLLOWING:
                raise RemoteProtocolError("the master sent something before it was asked to")
            self._reader.receive(data)
            while self._reader.advance():
                self._take(self._reader.log_offset, self._reader.data, now)
            self._mind_busy(now, effects)
        except (AerobeeError, OSError) as error:
            self._lose(*_words_of(error), now, effects)
        if self._log.end_offset > before:
            self._pause_ms = PAUSE_MS_MIN
        self._report_progress(now, effects)
        return effects

    def _take(self, log_offset: int, data: memoryview, now: Now) -> None:
        if self._incoming is None:
            # An empty log that asked for everything begins where the master's does.
            if not data:
                return
            self._incoming = IncomingRecords(self._log, self._file_bytes, log_offset)
        self._incoming.take(log_offset, data)
        if data:
            self._data_ms = now.monotonic_ms
            self.note_master_end(log_offset + len(data), now)
        self._why_not = self._hint = ""

    def _mind_busy(self, now: Now, effects: Effects) -> None:
        """Stop reading while the store is busy, and go on when it is not."""
        busy = None if self._incoming is None else self._incoming.busy
        if busy is None:
            if self._busy_ms is not None:
                self._busy_ms = None
                self._read_ms = self._data_ms = now.monotonic_ms
                self._read(effects, is_on=True)
        elif self._busy_ms is None:
            self._busy_ms = now.monotonic_ms
            self._read(effects, is_on=False)
        elif now.monotonic_ms - self._busy_ms >= BUSY_MS_MAX:
            raise busy

    def _read(self, effects: Effects, *, is_on: bool) -> None:
        assert self._link is not None
        effects.append(ReadLink(self._link, is_on))

    def _try_again(self, now: Now, effects: Effects) -> None:
        """Append what the store was too busy for."""
        assert self._incoming is not None
        try:
            self._incoming.go_on()
            self._mind_busy(now, effects)
        except (AerobeeError, OSError) as error:
            self._lose(*_words_of(error), now, effects)

    # The comparison of logs.

    def checked(self, ticket: int, verdict: Verdict, now: Now) -> Effects:
        """Take the verdict of the check that has this ticket."""
        effects: Effects = []
        if ticket != self._ticket or self._state is not ReplicaState.CHECKING:
            return effects  # of a connection that is gone
        match verdict:
            case Follow(log_offset):
                self._begin(log_offset, now, effects)
            case CutAt(log_offset, reason):
                _log.warning("the log must be cut at offset %d: %s", log_offset, reason)
                self.cut_at = verdict
                self._end_link(reason, effects)
                self._enter(ReplicaState.CUT_NEEDED, now)
                self._why_not = f"the log must be cut at offset {log_offset}: {reason}"
                self._hint = "restart this broker if it does not do so by itself"
            case Refuse(reason, hint):
                self._lose(reason, hint, now, effects)
        return effects

    def _begin(self, log_offset: int, now: Now, effects: Effects) -> None:
        end = self._log.end_offset
        if log_offset != end and end != self._log.min_offset:
            reason = f"the logs were compared up to {log_offset}, and this one ends at {end}"
            self._lose(reason, "", now, effects)
            return
        self._start_offset = log_offset
        self._enter(ReplicaState.FLUSHING, now)
        self._report_first(now, effects)

    def _report_first(self, now: Now, effects: Effects) -> None:
        """Ask for the log, once this one is as safe as a report says."""
        end, start = self._log.end_offset, self._start_offset
        if self._acks_flushed and self._log.flushed_offset < end:
            return
        self._reader = TransferReader()
        asks_for_all = start == 0 and end == self._log.min_offset
        self._incoming = (
            None if asks_for_all else IncomingRecords(self._log, self._file_bytes, start)
        )
        self._enter(ReplicaState.FOLLOWING, now)
        self._report(start, now, effects)

    # Reports.

    def _report_progress(self, now: Now, effects: Effects) -> None:
        if self._state is ReplicaState.FOLLOWING:
            log = self._log
            offset = log.flushed_offset if self._acks_flushed else log.end_offset
            if offset > self._acknowledged:
                self._report(offset, now, effects)

    def _report(self, offset: int, now: Now, effects: Effects) -> None:
        assert self._link is not None
        self._acknowledged = offset
        self._write_ms, self._write_wall_ms = now.monotonic_ms, now.wall_ms
        effects.append(LinkWrite(self._link, [encode_report(offset)]))

    # Time.

    def step(self, now: Now) -> Effects:
        """Do what is due: connect, report what was flushed, beat, give up."""
        effects: Effects = []
        match self._state:
            case ReplicaState.NO_MASTER:
                if self._master:
                    self._dial(now, effects)
            case ReplicaState.WAITING:
                if now.monotonic_ms >= self._retry_ms:
                    self._dial(now, effects)
            case ReplicaState.CHECKING | ReplicaState.FLUSHING:
                if now.monotonic_ms - self._since_ms >= self._config.silence_ms_max:
                    late = self._state.value
                    self._lose(f"{late} took too long", "is the master busy?", now, effects)
                elif self._state is ReplicaState.FLUSHING:
                    self._report_first(now, effects)
            case ReplicaState.FOLLOWING:
                self._look_after_link(now, effects)
        return effects

    def _dial(self, now: Now, effects: Effects) -> None:
        if self._dialing is None:  # else it is dialed when that is over
            self._dialing = self._master
            self._enter(ReplicaState.CONNECTING, now)
            effects.append(OpenLink(self._master))

    def _look_after_link(self, now: Now, effects: Effects) -> None:
        if self._busy_ms is not None:
            self._try_again(now, effects)
            if self._state is not ReplicaState.FOLLOWING:
                return
        monotonic_ms, silence_ms_max = now.monotonic_ms, self._config.silence_ms_max
        if self._busy_ms is not None:
            self._read_ms = self._data_ms = monotonic_ms  # it is this broker that does not listen
        if monotonic_ms - self._read_ms >= silence_ms_max:
            hint = "is the network between them well?"
            self._lose(f"nothing came for {silence_ms_max} ms", hint, now, effects)
            return
        is_behind = self._master_offset > self._log.end_offset
        if is_behind and monotonic_ms - self._data_ms >= silence_ms_max:
            self._lose(
                f"the master has the log up to {self._master_offset} and sends none of it",
                "it may have deleted what this slave asks for: see the master's log; if so, empty"
                " this store and start again",
                now,
                effects,
            )
            return
        if not is_behind:
            self._data_ms = monotonic_ms
        self._report_progress(now, effects)
        if monotonic_ms - self._write_ms >= self._config.heartbeat_interval_ms:
            self._report(self._acknowledged, now, effects)

    def rest_ms(self, now: Now) -> int:
        """For how long `step` need not be called, unless bytes come or are flushed."""
        config = self._config
        match self._state:
            case ReplicaState.NO_MASTER:
                due_ms = now.monotonic_ms if self._master and self._dialing is None else _NEVER
            case ReplicaState.WAITING:
                due_ms = self._retry_ms
            case ReplicaState.CHECKING | ReplicaState.FLUSHING:
                due_ms = self._since_ms + config.silence_ms_max
            case ReplicaState.FOLLOWING:
                due_ms = min(
                    _NEVER if self._busy_ms is None else now.monotonic_ms + BUSY_TRY_MS,
                    self._write_ms + config.heartbeat_interval_ms,
                    self._read_ms + config.silence_ms_max,
                )
            case _:
                due_ms = _NEVER
        return max(0, due_ms - now.monotonic_ms)

    # Ends.

    def stop(self, now: Now) -> Effects:
        """Follow nobody any more."""
        return self.set_master("", now)

    def _lose(self, reason: str, hint: str, now: Now, effects: Effects) -> None:
        """Give the link up, and try again after a pause."""
        if reason != self._why_not:  # not at every try
            _log.warning("not following the master: %s", reason, extra={"master": self._master})
        self._why_not, self._hint = reason, hint
        if now.monotonic_ms - self._since_ms >= PAUSE_MS_MAX:
            self._pause_ms = PAUSE_MS_MIN
        self._retry_ms = now.monotonic_ms + self._pause_ms
        self._pause_ms = min(2 * self._pause_ms, PAUSE_MS_MAX)
        if self._link is not None:
            self._end_link(reason, effects)
        self._enter(ReplicaState.WAITING, now)

    def _end_link(self, reason: str, effects: Effects) -> None:
        assert self._link is not None
        effects.append(CloseLink(self._link, reason))
        self._link = None

    def _enter(self, state: ReplicaState, now: Now) -> None:
        self._state = state
        self._since_ms = now.monotonic_ms
        if state is not ReplicaState.FOLLOWING:
            self._acknowledged = -1
            self._incoming = None
            self._busy_ms = None

    # Figures.

    def _count(self, size: int, monotonic_ms: int) -> None:
        second = monotonic_ms // 1000
        if second != self._second:
            is_next = second == self._second + 1
            self._second_bytes_before = self._second_bytes if is_next else 0
            self._second, self._second_bytes = second, 0
        self._second_bytes += size

    def status(self, now: Now) -> ReplicaStatus:
        self._count(0, now.monotonic_ms)
        end = self._log.end_offset
        master_offset = max(self._master_offset, end)
        return ReplicaStatus(
            self._master,
            self._state,
            now.monotonic_ms - self._since_ms,
            end,
            self._acknowledged,
            master_offset,
            master_offset - end,
            self._growth.lag_ms(end, now.monotonic_ms),
            self._second_bytes_before,
            self._read_wall_ms,
            self._write_wall_ms,
            self._why_not,
            self._hint,
        )


def _words_of(error: AerobeeError | OSError) -> tuple[str, str]:
    """A reason and a hint."""
    if isinstance(error, AerobeeError):
        return error.message, error.hint
    return str(error), "check the disk of this broker"
