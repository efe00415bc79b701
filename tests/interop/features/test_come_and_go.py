"""Members of a group come and go, brokers too: what was acknowledged is not lost."""

from functools import partial

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.meeting import meet
from tests.interop.features.program import Event, Program, ProgramError, bodies
from tests.interop.features.test_consume import ALL, fill
from tests.interop.features.waiting import until


@pytest.mark.feature("rebalance")
def test_queues_are_shared_by_the_members_that_there_are(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    meet(client, ground, names.topic, {names.one: ALL})
    client.subscribe(names.two, names.group, names.topic)
    # Members share queues in the order of their ids, and these names are in that order.
    meet(client, ground, names.topic, {names.one: {0, 1}, names.two: {2, 3}})
    client.close(names.one)
    meet(client, ground, names.topic, {names.two: ALL})
    sent = {message.body.decode() for message in ground.stored(names.topic)}
    received = client.received(names.one) + client.received(names.two)
    assert set(bodies(received)) == sent


@pytest.mark.feature("consumer-restart")
def test_a_new_consumer_goes_on_where_a_killed_one_was(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    before = fill(ground, names.topic, 5)
    client.subscribe(names.one, names.group, names.topic)
    received = client.receive(names.one, lambda events: len(events) >= len(before))
    assert sorted(bodies(received)) == sorted(before)
    done = len(before)
    until(lambda: ground.committed(names.topic, names.group) == done, 30, "no offset comes")
    client.kill()
    after = [f"after {queue_id}" for queue_id in range(QUEUES)]
    for queue_id, body in enumerate(after):
        ground.send(names.topic, queue_id, body)
    again = programs.current()
    again.subscribe(names.two, names.group, names.topic)
    received = again.receive(names.two, lambda events: len(events) >= len(after))
    assert sorted(bodies(received)) == after
    again.close(names.two)


@pytest.mark.feature("broker-restart")
def test_sending_and_consuming_go_on_after_the_broker_was_killed(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    before = [f"before {number}" for number in range(10)]
    client.send("sync", names.topic, *before)
    client.receive(names.one, lambda events: set(bodies(events)) >= set(before))
    ground.restart_broker()
    stored = [message.body.decode() for message in ground.stored(names.topic)]
    assert sorted(stored) == before
    after = [f"after {number}" for number in range(10)]
    for body in after:
        until(partial(_sent, client, names.topic, body), 60, "no send succeeds")
    received = client.receive(names.one, lambda events: set(bodies(events)) >= set(after), 60)
    assert set(bodies(received)) == {*before, *after}


def _sent(client: Program, topic: str, body: str) -> list[Event]:
    try:
        return client.send("sync", topic, body)
    except ProgramError:
        return []
