"""CHANGE_BROKER_ROLE: promotions that would lose or split something are refused unless forced."""

from aerobee.model.broker_role import BrokerRole, RoleChange
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import Rebuild
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import BrokerKit
from tests.pair_kit import Pair
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)
CHANGE = 28008
PROMOTE = {"role": "ASYNC_MASTER", "brokerId": "0"}


def wishes(kit: BrokerKit) -> list[Rebuild]:
    return [one for one in kit.wanted if isinstance(one, Rebuild)]


def test_a_slave_that_follows_is_not_promoted() -> None:
    pair = Pair(TOPIC)
    pair.run(200)
    answer = pair.slave.ask(CHANGE, PROMOTE)
    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert "still sends its log" in answer.remark
    assert wishes(pair.slave) == []


def test_a_slave_whose_master_is_gone_is_promoted() -> None:
    pair = Pair(TOPIC)
    pair.send()
    pair.run(200)
    pair.is_cut = True
    pair.drop_link()
    answer = pair.slave.ask(CHANGE, PROMOTE)
    assert answer.code == 0
    assert answer.ext_fields["endOffset"] == str(pair.slave.store.end_offset)
    (wish,) = wishes(pair.slave)
    assert wish.role == RoleChange(BrokerRole.ASYNC_MASTER, 0)
    assert wish.cut_at is None


def test_a_slave_that_follows_is_promoted_by_force() -> None:
    pair = Pair(TOPIC)
    pair.run(200)
    assert pair.slave.ask(CHANGE, {**PROMOTE, "force": "true"}).code == 0
    assert len(wishes(pair.slave)) == 1


def test_a_master_becomes_the_slave_of_another() -> None:
    kit = BrokerKit()
    fields = {"role": "SLAVE", "brokerId": "1", "masterHaAddress": "10.0.0.9:10912"}
    assert kit.ask(CHANGE, fields).code == 0
    (wish,) = wishes(kit)
    assert wish.role == RoleChange(BrokerRole.SLAVE, 1, "10.0.0.9:10912")


def test_a_role_that_cannot_be_is_refused() -> None:
    kit = BrokerKit()
    for fields, text in (
        ({"role": "KING", "brokerId": "0"}, "one of ASYNC_MASTER"),
        ({"role": "SLAVE", "brokerId": "0"}, "above 0"),
        ({"role": "SYNC_MASTER", "brokerId": "2"}, "broker id 0"),
    ):
        answer = kit.ask(CHANGE, fields)
        assert answer.code == ResponseCode.INVALID_PARAMETER
        assert text in answer.remark
    assert wishes(kit) == []
