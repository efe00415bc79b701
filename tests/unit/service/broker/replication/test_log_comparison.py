"""LogComparison: where a slave's log and its master's part, with few questions."""

import random
from collections.abc import Sequence

import pytest

from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.small_tables import encode_text_table
from aerobee.protocol.headers.log_reading import LogRangeHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.replication.replica import CutAt, Follow, Refuse, Verdict
from aerobee.service.broker.replication.log_comparison import LogComparison

NOW = Now(1_000, 1_700_000_000_000)
FILE_BYTES = 1_000


FILLER = 255
"""The tag of bytes that fill a log file up: no record."""


def record(size: int, tag: int) -> bytes:
    return size.to_bytes(4, "big") + bytes([tag]) * (size - 4)


class ListedLog:
    """A log of made-up records, each with its size in front, that begins at `min_offset`."""

    def __init__(self, records: Sequence[bytes], min_offset: int = 0) -> None:
        self.min_offset = min_offset
        self.records = list(records)

    @property
    def end_offset(self) -> int:
        return self.min_offset + sum(map(len, self.records))

    def offsets(self) -> list[int]:
        at, found = self.min_offset, []
        for one in self.records:
            if one[4] != FILLER:
                found.append(at)
            at += len(one)
        return found

    def last_record(self) -> int | None:
        return self.offsets()[-1] if self.records else None

    def file_begins(self) -> list[int]:
        """Files of about a kilobyte, which begin with a record."""
        found: list[int] = []
        for at in self.offsets():
            if not found or at - found[-1] >= FILE_BYTES:
                found.append(at)
        return found

    def records_in(self, log_offset: int) -> list[int]:
        begin = max(at for at in self.file_begins() if at <= log_offset)
        ends = [at for at in self.file_begins() if at > begin]
        end = ends[0] if ends else self.end_offset
        return [at for at in self.offsets() if begin <= at < end]

    def log_slices(self, offset: int, limit: int) -> memoryview:
        data = b"".join(self.records)
        at = offset - self.min_offset
        return memoryview(data)[at : at + limit]

    def append_raw(self, log_offset: int, data: memoryview) -> int:
        assert log_offset == self.end_offset
        self.records.append(bytes(data))
        return len(data)


class ScriptedMaster:
    """Answers questions about its log, as ours or as Apache's would."""

    def __init__(self, log: ListedLog, *, is_apache: bool = False) -> None:
        self.log = log
        self.is_apache = is_apache
        self.asked: list[int] = []

    def answer(self, command: RemotingCommand) -> RemotingCommand:
        self.asked.append(command.code)
        if command.code == RequestCode.GET_BROKER_RUNTIME_INFO:
            figures = {
                "commitLogMinOffset": str(self.log.min_offset),
                "commitLogMaxOffset": str(self.log.end_offset),
            }
            return RemotingCommand(0, body=encode_text_table(figures))
        offset = int(command.ext_fields["offset"])
        if command.code == RequestCode.READ_LOG:
            if self.is_apache:
                return RemotingCommand(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
            if not self.log.min_offset <= offset <= self.log.end_offset:
                return RemotingCommand(ResponseCode.SYSTEM_ERROR)
            size = int(command.ext_fields["size"])
            bounds = write_header(LogRangeHeader(self.log.min_offset, self.log.end_offset))
            return RemotingCommand(
                0, ext_fields=bounds, body=bytes(self.log.log_slices(offset, size))
            )
        if offset not in self.log.offsets():
            return RemotingCommand(ResponseCode.SYSTEM_ERROR)
        size = int.from_bytes(self.log.log_slices(offset, 4), "big")
        return RemotingCommand(0, body=bytes(self.log.log_slices(offset, size)))


def compared(own: ListedLog, master: ScriptedMaster | None) -> Verdict:
    outbox: Effects = []
    outcomes: list[Verdict] = []
    comparison = LogComparison(own, own, outbox)
    comparison.begin("master:10911", lambda outcome, now: outcomes.append(outcome), NOW)
    while not outcomes:
        (dial,) = outbox
        outbox.clear()
        assert isinstance(dial, Dial)
        assert dial.address == "master:10911"
        answer = master.answer(dial.command) if master is not None else None
        comparison.on_answer("somebody else's", RemotingCommand(0), NOW)
        comparison.on_answer(dial.ticket, answer, NOW)
    (outcome,) = outcomes
    return outcome


both = pytest.mark.parametrize("is_apache", [False, True])


@both
def test_a_log_that_the_master_goes_on_from_is_followed_from_its_end(is_apache: bool) -> None:
    records = [record(100 + tag, tag) for tag in range(9)]
    master = ScriptedMaster(ListedLog(records), is_apache=is_apache)
    own = ListedLog(records[:6])
    assert compared(own, master) == Follow(own.end_offset)
    assert len(master.asked) <= 3


@both
def test_a_log_as_long_as_the_masters_is_followed_from_its_end(is_apache: bool) -> None:
    records = [record(100, tag) for tag in range(4)]
    own = ListedLog(records)
    assert compared(own, ScriptedMaster(ListedLog(records), is_apache=is_apache)) == Follow(400)


@both
@pytest.mark.parametrize("common", [1, 2, 17, 30, 31])
@pytest.mark.parametrize("theirs", [0, 1, 5, 40])
def test_a_log_that_differs_is_cut_behind_the_last_common_record(
    is_apache: bool, common: int, theirs: int
) -> None:
    draw = random.Random(common * 100 + theirs)
    sizes = [draw.randrange(91, 300) for _ in range(32)]
    shared = [record(size, 1) for size in sizes[:common]]
    own = ListedLog([*shared, *(record(size, 2) for size in sizes[common:])])
    master = ScriptedMaster(
        ListedLog([*shared, *(record(draw.randrange(91, 300), 3) for _ in range(theirs))]),
        is_apache=is_apache,
    )
    at = sum(map(len, shared))
    verdict = compared(own, master)
    assert isinstance(verdict, CutAt)
    assert verdict.log_offset == at
    assert str(own.end_offset - at) in verdict.reason
    assert len(master.asked) <= 26


@both
def test_a_filler_that_the_master_has_not_is_cut_off(is_apache: bool) -> None:
    shared = [record(300, 1), record(300, 2)]
    own = ListedLog([*shared, record(400, FILLER)])
    for theirs in (
        [],
        [record(250, 3)],
        [record(250, 3), record(150, FILLER), record(100, 4)],
        [record(250, 3), record(150, 4), record(100, 5)],
    ):
        master = ScriptedMaster(ListedLog([*shared, *theirs]), is_apache=is_apache)
        verdict = compared(own, master)
        assert isinstance(verdict, CutAt), theirs
        assert verdict.log_offset == 600


def test_a_filler_that_the_master_has_is_followed_from_its_end() -> None:
    shared = [record(300, 1), record(300, 2), record(400, FILLER)]
    master = ScriptedMaster(ListedLog([*shared, record(100, 3)]))
    assert compared(ListedLog(shared), master) == Follow(FILE_BYTES)


def test_a_filler_of_apaches_is_fetched_again() -> None:
    shared = [record(300, 1), record(300, 2), record(400, FILLER)]
    master = ScriptedMaster(ListedLog([*shared, record(100, 3)]), is_apache=True)
    verdict = compared(ListedLog(shared), master)
    assert isinstance(verdict, CutAt)
    assert verdict.log_offset == 600


def test_the_same_sizes_with_other_bytes_are_other_records() -> None:
    own = ListedLog([record(100, 1), record(100, 2), record(100, 3)])
    master = ScriptedMaster(ListedLog([record(100, 1), record(100, 9), record(100, 3 + 4)]))
    verdict = compared(own, master)
    assert isinstance(verdict, CutAt)
    assert verdict.log_offset == 100


@both
def test_nothing_in_common_is_refused_for_good(is_apache: bool) -> None:
    own = ListedLog([record(100, 1), record(100, 2)])
    master = ScriptedMaster(ListedLog([record(100, 8), record(100, 9)]), is_apache=is_apache)
    outcome = compared(own, master)
    assert isinstance(outcome, Refuse)
    assert "no record in common" in outcome.reason
    assert "move this broker's store away" in outcome.hint


def test_a_log_that_ends_before_the_masters_begins_is_refused_with_what_to_do() -> None:
    own = ListedLog([record(100, 1)])
    master = ScriptedMaster(ListedLog([record(100, 2)], min_offset=FILE_BYTES))
    outcome = compared(own, master)
    assert isinstance(outcome, Refuse)
    assert "ends at 100" in outcome.reason
    assert "move its store away" in outcome.hint


def test_an_older_part_that_the_master_has_deleted_does_not_matter() -> None:
    old = [record(200, 7) for _ in range(5)]
    new = [record(100, tag) for tag in range(4)]
    own = ListedLog([*old, *new[:3]])
    master = ScriptedMaster(ListedLog(new, min_offset=FILE_BYTES))
    assert compared(own, master) == Follow(1_300)


def test_an_empty_log_gets_the_first_record_of_apache_and_follows_behind_it() -> None:
    first, second = record(120, 1), record(100, 2)
    own = ListedLog([])
    assert compared(own, ScriptedMaster(ListedLog([first, second]), is_apache=True)) == Follow(120)
    assert own.records == [first]


def test_an_empty_log_asks_a_master_of_ours_for_everything() -> None:
    own = ListedLog([])
    assert compared(own, ScriptedMaster(ListedLog([record(120, 1)]))) == Follow(0)
    assert own.records == []


def test_an_empty_log_of_an_empty_master_follows_from_0() -> None:
    own = ListedLog([])
    assert compared(own, ScriptedMaster(ListedLog([]))) == Follow(0)
    assert own.records == []


def test_an_empty_log_follows_from_where_the_masters_begins() -> None:
    master = ScriptedMaster(ListedLog([record(100, 1)], min_offset=FILE_BYTES))
    assert compared(ListedLog([]), master) == Follow(FILE_BYTES)


def test_a_master_that_does_not_answer_may_be_asked_again() -> None:
    outcome = compared(ListedLog([record(100, 1)]), None)
    assert isinstance(outcome, Refuse)
    assert "does not answer" in outcome.reason
