import pytest

from aerobee.model.broker_role import BrokerRole, RoleChange
from aerobee.ports.service import Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from tests.replica_kit import log_bytes
from tests.store_kit import read_all
from tests.unit.sim.node_kit import SECOND_BROKER, Cluster
from tests.wire import JAVA_FIELDS


def send(cluster: Cluster, body: bytes) -> int:
    fields = {**JAVA_FIELDS, "n": cluster.broker.name}
    command = RemotingCommand(310, opaque=1, ext_fields=fields, body=body)
    return cluster.ask(cluster.broker, command).code


def test_a_message_that_was_acknowledged_survives_what_befalls_the_broker() -> None:
    cluster = Cluster()
    cluster.run(100)
    bodies = []
    for number, befall in enumerate(
        (cluster.broker.kill, cluster.broker.cut_power, cluster.broker.stop)
    ):
        bodies.append(b"%d" % number)
        assert send(cluster, bodies[-1]) == 0
        befall()
        cluster.run(5_000)
        cluster.broker.start()
        cluster.run(100)
        messages = read_all(cluster.broker.store, b"Orders", 1)
        assert [message.body for message in messages] == bodies
    assert cluster.fate.failures == []


def test_a_broker_can_be_asked_without_time_passing() -> None:
    cluster = Cluster()
    cluster.run(100)
    assert cluster.broker.ask(RemotingCommand(43)).code == 0
    assert cluster.timeline.now_ms == 100


def test_of_a_broker_that_is_down_nothing_can_be_seen() -> None:
    cluster = Cluster()
    cluster.run(100)
    assert cluster.broker.is_serving
    cluster.broker.kill()
    assert not cluster.broker.is_serving
    with pytest.raises(AssertionError, match="is down"):
        _ = cluster.broker.store


def test_only_what_was_done_to_its_disk_excuses_a_broker() -> None:
    cluster = Cluster()
    cluster.run(100)
    assert not cluster.broker.may_fail()
    cluster.broker.has_failing_disk = True
    assert cluster.broker.may_fail()
    cluster.broker.has_failing_disk = False
    cluster.broker.disk.capacity_bytes -= 1
    assert cluster.broker.may_fail()


SLAVE = ReplicationConfig(role=BrokerRole.SLAVE)


def test_a_slave_copies_its_master_over_the_simulated_network() -> None:
    cluster = Cluster()
    slave = cluster.make_broker(SECOND_BROKER, SLAVE, 1)
    slave.start()
    cluster.run(100)
    assert send(cluster, b"one") == 0
    cluster.run(3_000)
    assert send(cluster, b"two") == 0
    cluster.run(1_000)
    assert log_bytes(slave.store) == log_bytes(cluster.broker.store) != b""
    assert cluster.fate.failures == []


def test_a_role_changes_in_one_process_and_is_kept_by_the_next() -> None:
    cluster = Cluster()
    slave = cluster.make_broker(SECOND_BROKER, SLAVE, 1)
    slave.start()
    assert send(cluster, b"one") == 0
    cluster.run(3_000)
    cluster.broker.kill()
    cluster.fate.news.clear()
    slave.rebuild(Rebuild("promoted", RoleChange(BrokerRole.ASYNC_MASTER, 0)))
    slave.rebuild(Rebuild("dropped: one is under way", RoleChange(BrokerRole.SLAVE, 7)))
    cluster.run(3_000)
    assert cluster.fate.news == ["opened", "started"]
    assert slave.starts == 1
    cluster.broker = slave
    assert send(cluster, b"two") == 0
    slave.kill()
    slave.start()
    assert send(cluster, b"three") == 0
    messages = read_all(slave.store, b"Orders", 1)
    assert [message.body for message in messages] == [b"one", b"two", b"three"]


def test_a_log_that_has_parted_from_the_masters_is_cut_in_the_same_process() -> None:
    cluster = Cluster()
    slave = cluster.make_broker(SECOND_BROKER, SLAVE, 1)
    slave.start()
    assert send(cluster, b"one") == 0
    cluster.run(3_000)
    old = cluster.broker
    cluster.network.cut(old.host.name, SECOND_BROKER)
    assert send(cluster, b"never copied") == 0
    old.kill()
    slave.rebuild(Rebuild("promoted", RoleChange(BrokerRole.ASYNC_MASTER, 0)))
    cluster.run(3_000)
    cluster.broker = slave
    assert send(cluster, b"two") == 0
    cluster.network.heal_all()
    old.role = RoleChange(BrokerRole.SLAVE, 1, slave.ha_address)
    old.start()
    cluster.run(5_000)
    assert log_bytes(old.store) == log_bytes(slave.store)
    assert old.starts == 2
    assert len(old.disk.list_directory("store/diverged")) == 1
    assert cluster.fate.failures == []


def test_a_stop_waits_for_a_change_of_role() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.rebuild(Rebuild("again"))
    cluster.broker.stop()
    cluster.run(5_000)
    assert cluster.fate.news == ["opened", "started", "opened", "started", "stopped"]
