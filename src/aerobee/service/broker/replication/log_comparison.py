"""LogComparison finds out where a slave's log and its master's part, before the slave follows.

    where does the master's log begin and end? ─▶ is the record at our last record's place the same?
        ├─ yes: follow from our end
        ├─ no: search for the newest record that both have: the log must be cut behind it
        └─ there is none: refuse

Two logs that have the same record at one offset have the same bytes before it: a record carries its
log offset, its store time and a checksum, and a log is only appended to. So one comparison decides,
and a binary search over our own records finds the place at which the logs part.

A master of ours answers READ_LOG. Apache's has no such request; it answers VIEW_MESSAGE_BY_ID with
the bytes of a record, which is enough.

An empty slave begins where the master's log begins. Apache's master takes a report of offset 0 for
a wish for its last file only, so the first record of its log, if that begins at 0, is fetched here,
and the slave reports the offset behind it.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.errors import ProtocolError, StorageError
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.small_tables import decode_text_table
from aerobee.protocol.headers.log_reading import READ_LOG_BYTES_MAX, LogRangeHeader, ReadLogHeader
from aerobee.protocol.headers.queries import ViewMessageHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.replication.replica import CutAt, Follow, Refuse, Verdict

ANSWER_MS_MAX = 5_000
_FILLER_HEAD_BYTES = 8  # size and magic; the rest is nothing
_UNANSWERED = "the master does not answer"
_LATER = "it is tried again"


class OwnLog(Protocol):
    """The log of this slave."""

    @property
    def min_offset(self) -> int: ...

    @property
    def end_offset(self) -> int: ...

    def log_slices(self, offset: int, limit: int) -> memoryview: ...

    def append_raw(self, log_offset: int, data: memoryview) -> int: ...


class Offsets(Protocol):
    """Log offsets, in order."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> int: ...


class OwnRecords(Protocol):
    """The places of the records in this slave's log."""

    def last_record(self) -> int | None:
        """The log offset of the last record; None: there is none."""

    def file_begins(self) -> list[int]:
        """The log offsets at which the log files begin, each with a record."""

    def records_in(self, log_offset: int) -> Offsets:
        """The log offsets of all records of the file that holds an offset."""


Told: TypeAlias = Callable[[Verdict, Now], None]
_Talk: TypeAlias = Generator[RemotingCommand, RemotingCommand | None, Verdict]


class _Ticket(NamedTuple):
    number: int


class LogComparison:
    """One comparison at a time; a new one ends the one before it."""

    def __init__(self, log: OwnLog, records: OwnRecords, outbox: Effects) -> None:
        self._log = log
        self._records = records
        self._outbox = outbox
        self._number = 0
        self._talk: _Talk | None = None
        self._told: Told | None = None
        self._address = ""
        self._knows_read_log = True
        self.term = 0
        """The newest term of a master that was compared with."""
        # The file whose records were listed last, and those.
        self._listed: tuple[int, Offsets] = (-1, ())

    def begin(self, master_address: str, told: Told, now: Now) -> None:
        """Compare with the master at this remoting address, and call `told` with the outcome."""
        self._number += 1
        self._address, self._told = master_address, told
        self._knows_read_log = True
        self._listed = (-1, ())
        self._talk = self._compared()
        self._go_on(None, now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a question; tickets of others are ignored."""
        if isinstance(ticket, _Ticket) and ticket.number == self._number and self._talk is not None:
            self._go_on(answer, now)

    def _go_on(self, answer: RemotingCommand | None, now: Now) -> None:
        talk, told = self._talk, self._told
        assert talk is not None
        assert told is not None
        try:
            command = talk.send(answer)
        except StopIteration as end:
            self._talk = None
            told(end.value, now)
        except (ProtocolError, StorageError) as error:
            self._talk = None
            told(Refuse(f"the comparison with the master failed: {error.message}", error.hint), now)
        else:
            self._outbox.append(Dial(self._address, command, ANSWER_MS_MAX, _Ticket(self._number)))

    # The talk.

    def _compared(self) -> _Talk:
        figures = yield RemotingCommand(RequestCode.GET_BROKER_RUNTIME_INFO)
        if figures is None or figures.code != ResponseCode.SUCCESS:
            return Refuse(_UNANSWERED, _LATER)
        table = decode_text_table(bytes(figures.body))
        begin, end = int(table["commitLogMinOffset"]), int(table["commitLogMaxOffset"])
        if self._log.end_offset == self._log.min_offset:
            return (yield from self._begun(max(begin, 0), end))
        return (yield from self._placed(max(begin, 0), end))

    def _begun(self, begin: int, end: int) -> _Talk:
        """Begin an empty log."""
        if begin > 0 or end <= 0 or (yield from self._answers_read_log()):
            return Follow(begin)
        first = yield from self._master_record(0, 0)
        if first is None:
            return Refuse("the first record of the master's log cannot be read", _LATER)
        taken = self._log.append_raw(0, memoryview(first))
        if taken == 0:
            return Refuse("the first record of the master's log did not come whole", _LATER)
        return Follow(taken)

    def _placed(self, begin: int, end: int) -> _Talk:
        """Find how much of a log that has records the master has, too."""
        log = self._log
        if log.end_offset < begin:
            return Refuse(
                f"this log ends at {log.end_offset}, and the master's begins at {begin}",
                "this slave was away for longer than the master keeps messages: move its store "
                "away and start it again, then it copies everything",
            )
        # Beyond the master's end there is nothing to compare with.
        last = self._at_or_before(min(log.end_offset, end) - 1)
        if last is None or last < begin:
            return self._nothing_common()
        if (yield from self._is_same(last)):
            return (yield from self._agreed(last))
        # Log files begin with a record, on both sides at the same offsets.
        first = max(log.min_offset, begin)
        if first == last or not (yield from self._is_same(first)):
            return self._nothing_common()
        same, other = first, last
        while True:
            middle = self._at_or_before((same + other) // 2)
            if middle is None or middle <= same:
                middle = same + self._size_of(same)
                if middle >= other:
                    return self._cut(other)
            if (yield from self._is_same(middle)):
                same = middle
            else:
                other = middle

    def _agreed(self, last: int) -> _Talk:
        """The record at `last` is the same on both sides; is it our last, and what follows it?"""
        end = last + self._size_of(last)
        if self._records.last_record() != last:
            return self._cut(end)
        if end < self._log.end_offset and not (yield from self._has_filler(end)):
            return self._cut(end)
        return Follow(self._log.end_offset)

    def _has_filler(self, offset: int) -> Generator[RemotingCommand, RemotingCommand | None, bool]:
        """Whether the master has the filler with which our log ends. The one that sent it may have
        lost it, and another record may be in its place. Apache's cannot be asked: then the filler
        is fetched again."""
        if not self._knows_read_log:
            return False
        theirs = yield from self._master_record(offset, _FILLER_HEAD_BYTES)
        return theirs == bytes(self._log.log_slices(offset, _FILLER_HEAD_BYTES))

    def _cut(self, at: int) -> CutAt:
        gone = self._log.end_offset - at
        return CutAt(at, f"its last {gone} bytes are not in the master's log")

    def _nothing_common(self) -> Refuse:
        return Refuse(
            "this log and the master's have no record in common",
            "is it this broker's master? If so, move this broker's store away and start it again, "
            "then it copies everything",
        )

    def _answers_read_log(self) -> Generator[RemotingCommand, RemotingCommand | None, bool]:
        """Whether the master is one of ours, which sends all of its log to an empty slave."""
        header = write_header(ReadLogHeader(0, 1))
        answer = yield RemotingCommand(RequestCode.READ_LOG, ext_fields=header)
        if answer is None or answer.code != ResponseCode.SUCCESS:
            return False
        self._note_term(answer)
        return True

    def _is_same(self, offset: int) -> Generator[RemotingCommand, RemotingCommand | None, bool]:
        size = self._size_of(offset)
        theirs = yield from self._master_record(offset, size)
        return theirs is not None and theirs == bytes(self._log.log_slices(offset, size))

    def _master_record(
        self, offset: int, size: int
    ) -> Generator[RemotingCommand, RemotingCommand | None, bytes | None]:
        """The record at a log offset of the master's; None: there is none. `size` 0: not known."""
        if self._knows_read_log and size:
            header = ReadLogHeader(offset, min(size, READ_LOG_BYTES_MAX))
            answer = yield RemotingCommand(RequestCode.READ_LOG, ext_fields=write_header(header))
            if answer is None:
                raise ProtocolError(_UNANSWERED)
            if answer.code == ResponseCode.SUCCESS:
                self._note_term(answer)
                return bytes(answer.body)
            self._knows_read_log = answer.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            if self._knows_read_log:
                return None
        view = ViewMessageHeader(offset)
        answer = yield RemotingCommand(
            RequestCode.VIEW_MESSAGE_BY_ID, ext_fields=write_header(view)
        )
        if answer is None:
            raise ProtocolError(_UNANSWERED)
        return bytes(answer.body) if answer.code == ResponseCode.SUCCESS else None

    def _note_term(self, answer: RemotingCommand) -> None:
        told = read_header(LogRangeHeader, answer.ext_fields)
        self.term = max(self.term, told.term)

    # Our own records.

    def _at_or_before(self, offset: int) -> int | None:
        """The newest record that begins at an offset or before it; None: there is none."""
        begins = self._records.file_begins()
        index = bisect_right(begins, offset) - 1
        if index < 0:
            return None
        if self._listed[0] != begins[index]:
            self._listed = (begins[index], self._records.records_in(begins[index]))
        records = self._listed[1]
        at = bisect_right(records, offset) - 1
        return records[at] if at >= 0 else None

    def _size_of(self, offset: int) -> int:
        return int.from_bytes(self._log.log_slices(offset, 4), "big")
