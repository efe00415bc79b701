import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.store_kit import read_all
from tests.unit.sim.node_kit import Cluster
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
