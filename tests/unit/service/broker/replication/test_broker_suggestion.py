"""BrokerSuggestion: who is far behind is sent to a slave, and back when it has caught up."""

from dataclasses import replace

import pytest

from aerobee.model.broker_role import BrokerRole
from aerobee.model.group import GroupConfig
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.broker_suggestion import BrokerSuggestion
from tests.store_kit import StoreKit

MEMORY = 1_000
GROUP = GroupConfig("g", slow_broker_id=3)
MASTER = BrokerIdentity(memory_bytes=MEMORY)
SLAVE = replace(MASTER, broker_id=2, replication=ReplicationConfig(role=BrokerRole.SLAVE))


def suggested(identity: BrokerIdentity, offset: int, *, has_slave: bool = True) -> int:
    """After a read from this queue offset of 20 messages, some 200 bytes each."""
    kit = StoreKit()
    kit.append_many(20)
    kit.store.dispatch()
    read = kit.store.read(b"Orders", 0, offset, 1, 1 << 20, None, None)
    suggestion = BrokerSuggestion(identity, kit.store, {"g": GROUP}.get, lambda: has_slave)
    return suggestion.after(read, "g")


def test_a_master_keeps_who_is_near_and_sends_away_who_is_far_behind() -> None:
    assert suggested(MASTER, 19) == 0
    assert suggested(MASTER, 0) == 3


def test_a_slave_keeps_who_is_far_behind_and_sends_back_who_is_near() -> None:
    assert suggested(SLAVE, 19) == 0
    assert suggested(SLAVE, 0) == 2


def test_nobody_is_sent_to_a_slave_that_is_not_there() -> None:
    assert suggested(MASTER, 0, has_slave=False) == 0


@pytest.mark.parametrize(
    "identity",
    [
        replace(MASTER, memory_bytes=0),
        replace(MASTER, replication=ReplicationConfig(serves_reads=False)),
        replace(MASTER, memory_bytes=1 << 40),
    ],
)
def test_nobody_is_sent_away_without_a_reason(identity: BrokerIdentity) -> None:
    assert suggested(identity, 0) == 0


def test_a_read_that_found_nothing_suggests_the_master() -> None:
    assert suggested(MASTER, 20) == 0
