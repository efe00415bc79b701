from collections.abc import Mapping

import pytest

from aerobee.model.replica_status import FOLLOWING, MasterStatus, ReplicaLag, SlaveStatus
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.ha_status import decode_ha_status
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.replica_handlers import (
    HaExchangeHandlers,
    ReplicaHandlers,
)
from aerobee.service.broker.request_table import request_table
from aerobee.service.request import Answer, Request

MASTER = MasterStatus(510, 2, [ReplicaLag("10.0.0.2:41234", 510, 0, 0, True)])
SLAVE = SlaveStatus("10.0.0.1:10912", FOLLOWING, 500, 480, 510, 10, 3)
IDENTITY = BrokerIdentity(address="10.0.0.1:10911", ha_address="10.0.0.1:10912")
NOW = Now(1_000, 2_000)


class Rig:
    """The handlers of a broker with a given status."""

    def __init__(self, status: MasterStatus | SlaveStatus) -> None:
        self.status = status
        self.asked_at: list[Now] = []
        self.followed: list[tuple[str, str]] = []
        exchange = HaExchangeHandlers(
            IDENTITY, self._status, 77, lambda *addresses: self.followed.append(addresses)
        )
        self._table = request_table([*ReplicaHandlers(self._status).rows(), *exchange.rows()])

    def _status(self, now: Now) -> MasterStatus | SlaveStatus:
        self.asked_at.append(now)
        return self.status

    def ask(self, code: int, fields: Mapping[str, str] | None = None) -> Answer:
        command = RemotingCommand(code, ext_fields=dict(fields or {}))
        answer = self._table[code].serve(Request(ChannelId(1), command, NOW, []))
        assert answer is not None
        return answer


@pytest.mark.parametrize("status", [MASTER, SLAVE])
def test_the_status_is_that_of_the_moment_of_the_request(
    status: MasterStatus | SlaveStatus,
) -> None:
    rig = Rig(status)
    assert decode_ha_status(rig.ask(907).body) == status
    assert rig.asked_at == [NOW]


def test_there_is_no_flush_offset_to_reset_and_a_slave_says_so() -> None:
    assert (Rig(MASTER).ask(908, {"masterFlushOffset": "5"})) == Answer()
    answer = Rig(SLAVE).ask(908, {"masterFlushOffset": "5"})
    assert answer.code == 0
    assert "compares its log" in answer.remark


def test_terms_of_masters_are_refused_as_apache_does_without_a_controller() -> None:
    answer = Rig(MASTER).ask(1007)
    assert (answer.code, answer.body) == (1, b"")
    assert answer.remark.startswith("this request only for controllerMode")


def test_a_broker_that_is_no_member_of_a_group_says_how_it_becomes_one() -> None:
    for code in (28011, 28012):
        answer = Rig(MASTER).ask(code)
        assert answer.code == ResponseCode.CONTROLLER_INVALID_REQUEST
        assert "aerobee broker convert" in answer.remark


def test_a_master_tells_where_its_log_is_served_and_how_long_it_was_at_its_start() -> None:
    assert Rig(MASTER).ask(906).fields == {
        "masterHaAddress": "10.0.0.1:10912",
        "masterFlushOffset": "77",
        "masterAddress": "10.0.0.1:10911",
    }
    assert not Rig(SLAVE).ask(906).fields


def test_a_slave_follows_a_master_that_says_so_and_a_master_follows_nobody() -> None:
    fields = {"masterHaAddress": "10.0.0.9:10912", "masterAddress": "10.0.0.9:10911"}
    slave, master = Rig(SLAVE), Rig(MASTER)
    assert (slave.ask(906, fields), master.ask(906, fields)) == (Answer(), Answer())
    assert [one[:2] for one in slave.followed] == [("10.0.0.9:10911", "10.0.0.9:10912")]
    assert master.followed == []
