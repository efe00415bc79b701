from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.unit.sim.node_kit import Cluster


def route(cluster: Cluster) -> RemotingCommand:
    command = RemotingCommand(105, opaque=1, ext_fields={"topic": "TBW102"})
    return cluster.ask(cluster.nameserver, command)


def test_a_broker_is_found_where_it_listens() -> None:
    cluster = Cluster()
    cluster.run(1_000)
    answer = route(cluster)
    (broker,) = decode_topic_route(bytes(answer.body)).brokers
    assert broker.addresses == {0: cluster.broker.address}


def test_a_name_server_that_was_killed_knows_nothing_until_brokers_come_back() -> None:
    cluster = Cluster()
    cluster.run(1_000)
    cluster.nameserver.kill()
    cluster.broker.kill()
    cluster.nameserver.start()
    assert route(cluster).code == 17
    cluster.broker.start()
    cluster.run(1_000)
    assert route(cluster).code == 0


def test_it_stops_in_order() -> None:
    cluster = Cluster()
    cluster.run(1_000)
    cluster.nameserver.stop()
    cluster.run(5_000)
    assert not cluster.nameserver.is_up
    assert cluster.fate.news[-1] == "stopped"
    assert cluster.fate.failures == []
