import logging
from dataclasses import replace

import pytest

from aerobee.model.broker_role import Stage
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects, Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.acting.master_return import (
    SILENCE_MS_MAX,
    WARN_MS,
    MasterReturn,
)
from aerobee.service.broker.replication.metadata.metadata_round import Progress
from tests.broker_kit import BrokerKit, pull_fields
from tests.wire import JAVA_FIELDS

MASTER = BrokerIdentity(address="a:1", ha_address="a:2")
SLAVES = {1: "b:1", 2: "c:1"}


class Rig:
    def __init__(self) -> None:
        self.linked = 0
        self.outbox: Effects = []
        self.taken: list[Progress] = []
        self.back = MasterReturn(
            MASTER,
            77,
            lambda: self.linked,
            lambda progress, now: self.taken.append(progress),
            self.outbox,
        )

    def hear(self, ms: int, members: dict[int, str] | None) -> list[Dial]:
        self.back.hear_members(members, Now(0, ms))
        return self.asked()

    def asked(self) -> list[Dial]:
        dials = [one for one in self.outbox if isinstance(one, Dial)]
        self.outbox[:] = [one for one in self.outbox if not isinstance(one, Dial)]
        return dials

    def is_online(self) -> bool:
        return [one.stage for one in self.outbox if isinstance(one, Rebuild)] == [Stage.USUAL]


def test_a_master_without_slaves_is_online_at_once() -> None:
    for members in ({}, {0: "a:1"}):
        rig = Rig()
        assert rig.hear(0, members) == []
        assert rig.is_online()


def test_slaves_are_told_until_all_follow_and_then_the_first_is_asked() -> None:
    rig = Rig()
    for ms in (0, 1_000):
        told = rig.hear(ms, SLAVES)
        assert [(dial.address, dial.command.code) for dial in told] == [("b:1", 906), ("c:1", 906)]
        assert told[0].command.ext_fields == {
            "masterHaAddress": "a:2",
            "masterFlushOffset": "77",
            "masterAddress": "a:1",
        }
        rig.linked = 1
    rig.linked = 2
    slave = BrokerKit()
    (dial,) = rig.hear(2_000, SLAVES)
    codes = []
    while not rig.is_online():
        codes.append(dial.command.code)
        assert dial.address == "b:1"
        answer = slave.ask(dial.command.code, dial.command.ext_fields)
        assert rig.taken == []
        rig.back.on_answer(dial.ticket, answer, Now(0, 2_000))
        (dial,) = rig.asked() or [dial]
    assert codes == [43, 45, 60]
    assert len(rig.taken) == 1


def test_a_slave_that_does_not_answer_is_asked_again() -> None:
    rig = Rig()
    rig.linked = 2
    (dial,) = rig.hear(0, SLAVES)
    rig.back.on_answer(dial.ticket, None, Now(0, 1))
    (dial,) = rig.hear(1_000, SLAVES)
    rig.back.on_answer(dial.ticket, RemotingCommand(1, remark="no"), Now(0, 1_001))
    assert not rig.is_online()
    assert len(rig.hear(2_000, SLAVES)) == 1


def test_a_slave_that_does_not_follow_is_complained_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.linked = 1
    with caplog.at_level(logging.WARNING):
        rig.hear(0, SLAVES)
        assert caplog.messages == []
        rig.hear(WARN_MS, SLAVES)
        rig.hear(WARN_MS + 1, SLAVES)
    (said,) = caplog.messages
    assert "1 of 2 slaves follow" in said
    assert "skipPreOnline" in said
    assert not rig.is_online()


def test_silent_name_servers_and_another_master_do_not_hold_it_back() -> None:
    rig = Rig()
    rig.hear(0, None)
    rig.hear(SILENCE_MS_MAX - 1, None)
    assert not rig.is_online()
    rig.hear(SILENCE_MS_MAX, None)
    assert rig.is_online()
    other = Rig()
    other.hear(0, {0: "other:1", **SLAVES})
    assert other.is_online()


def test_an_isolated_master_takes_nothing_and_is_not_registered() -> None:
    identity = replace(MASTER, stage=Stage.RETURNING)
    kit = BrokerKit(identity=identity, addresses=["ns:1"])
    kit.run(2_000)
    assert {dial.command.code for dial in kit.dialed} == {901}
    for code, fields in ((310, JAVA_FIELDS), (11, pull_fields()), (43, {}), (28007, {})):
        kit.tell(code, fields)
        (answer,) = kit.heard()
        assert (answer.code, "asks its slaves first" in (answer.remark or "")) == (14, True)
    assert kit.ask(907).code == 0
