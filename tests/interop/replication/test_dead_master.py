"""Java's consumers over the death of a master: they go on at its Aerobee slave and commit there,
and the master has their commits when it is back, whoever made it.
"""

from collections.abc import Iterator

import pytest

from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.features.program import Event, bodies
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import AEROBEE, APACHE, Broker, Pair
from tests.interop.replication.conftest import CLIENT, StartProgram
from tests.interop.replication.log_bytes import wait_until_equal

pytestmark = pytest.mark.java

SECONDS_MAX = 120
"""Clients ask for routes every 30 s."""
EARLY = [f"early {number}" for number in range(200)]
LATE = [f"late {number}" for number in range(300)]
RETRIES = 16


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((AEROBEE, AEROBEE, AEROBEE), id="aerobee-follows-aerobee"),
        pytest.param((APACHE, AEROBEE, APACHE), id="aerobee-follows-apache"),
    ],
)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Pair]:
    with Pair(request.param, tmp_path_factory.mktemp("pair"), jars) as made:
        made.master.start()
        made.slave.start()
        yield made


@pytest.mark.parametrize("version", [CLIENT, "java-4.9.8"])
def test_consumers_go_on_at_the_slave_and_their_commits_reach_the_master_when_it_is_back(
    pair: Pair, start_program: StartProgram, version: str
) -> None:
    master, slave, ground = pair.master, pair.slave, Ground(pair.master)
    stem = version.replace(".", "-")
    topic, old, new = f"Read-{stem}", f"old-{stem}", f"new-{stem}"
    ground.create_topic(topic)
    for group in (old, new):
        ground.create_group(group, RETRIES)
    producer, consumer = start_program(pair.name_server), start_program(pair.name_server, version)
    consumer.subscribe("old", old, topic)
    producer.send("async", topic, *EARLY)
    consumer.receive("old", lambda events: _are(events, EARLY))
    wait_for_commits(slave, topic, old, len(EARLY))

    consumer.freeze()
    producer.send("async", topic, *LATE)
    wait_until_equal(master, slave)
    master.kill()
    consumer.thaw()
    consumer.subscribe("new", new, topic)
    for name, group in (("old", old), ("new", new)):
        consumer.receive(name, lambda events: _are(events, EARLY + LATE), SECONDS_MAX)
        wait_for_commits(slave, topic, group, len(EARLY + LATE))
        consumer.close(name)

    master.start()
    for group in (old, new):
        wait_for_commits(master, topic, group, len(EARLY + LATE))
    again = start_program(pair.name_server, version)
    for group in (old, new):
        again.subscribe(group, group, topic)
    ground.send(topic, 0, "afterwards")
    for group in (old, new):
        received = again.receive(group, lambda events: _are(events, ["afterwards"]), SECONDS_MAX)
        assert bodies(received) == ["afterwards"], "what was committed is not consumed again"
    again.close_all()


def _are(events: list[Event], wanted: list[str]) -> bool:
    return set(bodies(events)) >= set(wanted)


def wait_for_commits(broker: Broker, topic: str, group: str, count: int) -> None:
    until(
        lambda: Ground(broker).committed(topic, group) == count,
        SECONDS_MAX,
        f"{group} has committed {count} messages at {broker.make}'s broker",
    )
