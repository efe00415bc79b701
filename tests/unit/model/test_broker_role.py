"""Roles of a broker, under RocketMQ's names."""

from aerobee.model.broker_role import BrokerRole


def test_both_kinds_of_master_are_masters() -> None:
    masters = [role.value for role in BrokerRole if role.is_master]
    assert masters == ["ASYNC_MASTER", "SYNC_MASTER"]
    assert not BrokerRole("SLAVE").is_master
