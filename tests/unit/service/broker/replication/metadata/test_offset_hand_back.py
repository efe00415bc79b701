import logging

import pytest

from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit
from aerobee.service.broker.replication.metadata.offset_hand_back import FLIGHT_MAX, OffsetHandBack
from tests.question_kit import answered

QUERY, UPDATE = 14, 15
MASTER = "10.0.0.1:10911"


class Rig:
    def __init__(self, *offsets: int) -> None:
        """Owed are these offsets, of queues 0, 1, …"""
        self.outbox: Effects = []
        self.given_up: list[OwedCommit] = []
        self.hand_back = OffsetHandBack(self.outbox, self.given_up.append)
        self.commits = [OwedCommit("Orders", "g", *one) for one in enumerate(offsets)]
        self.hand_back.owe(MASTER, self.commits)

    def dials(self) -> list[Dial]:
        self.hand_back.on_tick()
        found = [effect for effect in self.outbox if isinstance(effect, Dial)]
        self.outbox.clear()
        return found

    def answer(self, dial: Dial, answer: RemotingCommand | None) -> None:
        self.hand_back.on_answer(dial.ticket, answer)


def test_the_master_is_asked_and_gets_an_offset_that_is_higher_than_its_own() -> None:
    rig = Rig(7)
    (query,) = rig.dials()
    assert (query.address, query.command.code) == (MASTER, QUERY)
    assert query.command.ext_fields == {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": "0",
        "setZeroIfNotFound": "false",
    }
    rig.answer(query, answered(offset="6"))
    (update,) = rig.dials()
    assert (update.address, update.command.code) == (MASTER, UPDATE)
    assert update.command.ext_fields == {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": "0",
        "commitOffset": "7",
    }
    rig.answer(update, answered())
    assert rig.dials() == []
    assert rig.given_up == []


@pytest.mark.parametrize("offset", ["7", "8"])
def test_a_master_that_has_gone_on_is_not_set_back(offset: str) -> None:
    rig = Rig(7)
    (query,) = rig.dials()
    rig.answer(query, answered(offset=offset))
    assert rig.dials() == []


@pytest.mark.parametrize("answer", [answered(22), answered(), answered(offset="x")])
def test_a_master_that_knows_no_offset_gets_it(answer: RemotingCommand) -> None:
    rig = Rig(7)
    (query,) = rig.dials()
    rig.answer(query, answer)
    assert [dial.command.code for dial in rig.dials()] == [UPDATE]


def test_a_few_are_under_way_at_a_time() -> None:
    rig = Rig(*range(1, 3 * FLIGHT_MAX))
    first = rig.dials()
    assert len(first) == FLIGHT_MAX
    assert not rig.hand_back.has_more
    assert rig.dials() == []
    rig.answer(first[0], answered(offset="0"))
    assert [dial.command.code for dial in rig.dials()] == [UPDATE], "it is still the same one"
    rig.answer(first[1], answered(offset="99"))
    assert rig.hand_back.has_more
    assert [dial.command.code for dial in rig.dials()] == [QUERY]


def test_a_master_that_does_not_answer_is_not_asked_for_the_rest() -> None:
    rig = Rig(*range(1, 3 * FLIGHT_MAX))
    first = rig.dials()
    rig.answer(first[0], None)
    assert rig.dials() == []
    rig.hand_back.owe(MASTER, rig.commits[:1])
    assert len(rig.dials()) == 1


@pytest.mark.parametrize("code", [17, 26, 29])
def test_a_commit_that_the_master_refuses_is_given_up(
    code: int, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(7)
    rig.answer(rig.dials()[0], answered(offset="0"))
    with caplog.at_level(logging.WARNING):
        rig.answer(rig.dials()[0], answered(code, remark="it is not there"))
    assert rig.given_up == rig.commits
    assert "it is not there" in caplog.text


def test_a_commit_that_the_master_cannot_take_now_stays_owed() -> None:
    rig = Rig(7)
    rig.answer(rig.dials()[0], answered(offset="0"))
    rig.answer(rig.dials()[0], answered(2, remark="busy"))
    assert rig.given_up == []


def test_answers_to_others_are_ignored() -> None:
    rig, other = Rig(7), Rig(7)
    (mine,), (theirs,) = rig.dials(), other.dials()
    rig.answer(theirs, answered(offset="0"))
    rig.hand_back.on_answer("a ticket", answered())
    assert rig.dials() == []
    rig.answer(mine, answered(offset="0"))
    assert len(rig.dials()) == 1
