"""A message of a transaction is there when its producer says so, and only then."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Event, Program, bodies


def producer_group(names: Names) -> str:
    return f"producer-{names.topic}"


def transact(client: Program, names: Names, *texts: str, outcome: str, check: str) -> None:
    fields = {"tags": "red", "keys": "k1", "colour": "teal", "outcome": outcome, "check": check}
    group = producer_group(names)
    told = client.send("transaction", names.topic, *texts, group=group, **fields)
    assert [event["status"] for event in told] == ["SEND_OK"] * len(texts)


def receive(client: Program, names: Names, *wanted: str, seconds: float = 30) -> list[Event]:
    return client.receive(names.one, lambda events: set(bodies(events)) >= set(wanted), seconds)


def answers(client: Program, names: Names, text: str) -> list[str]:
    checked = client.checked(producer_group(names))
    assert {event["topic"] for event in checked} <= {names.topic}
    return [event["answer"] for event in checked if event["body"] == text]


@pytest.mark.feature("transaction")
def test_what_was_committed_is_there_and_what_was_rolled_back_is_not(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    # Who forgot what it was told would ask, and get the opposite.
    transact(client, names, "yes 1", "yes 2", outcome="commit", check="rollback")
    transact(client, names, "no 1", "no 2", outcome="rollback", check="commit")
    committed = receive(client, names, "yes 1", "yes 2")
    # Transactions are looked after in their order: with this one, all before it were.
    transact(client, names, "last", outcome="unknown", check="commit")
    received = receive(client, names, "last")
    assert sorted(bodies(received)) == ["last", "yes 1", "yes 2"]
    stored = ground.stored(names.topic)
    assert sorted(message.body for message in stored) == [b"last", b"yes 1", b"yes 2"]
    for event in committed:
        said = {name: event[name] for name in ("topic", "tags", "keys", "colour", "reconsumeTimes")}
        assert said == {
            "topic": names.topic,
            "tags": "red",
            "keys": "k1",
            "colour": "teal",
            "reconsumeTimes": 0,
        }


@pytest.mark.feature("check-back")
def test_the_producer_is_asked_until_it_knows(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    transact(client, names, "no", outcome="unknown", check="rollback")
    transact(client, names, "later", outcome="unknown", check="unknown unknown commit")
    transact(client, names, "yes", outcome="unknown", check="commit")
    receive(client, names, "yes", "later")
    # More of them if an answer took longer than the next question.
    assert answers(client, names, "later")[:3] == ["unknown", "unknown", "commit"]
    assert set(answers(client, names, "yes")) == {"commit"}
    assert set(answers(client, names, "no")) == {"rollback"}
    assert sorted(message.body for message in ground.stored(names.topic)) == [b"later", b"yes"]
    assert sorted(bodies(client.received(names.one))) == ["later", "yes"]


@pytest.mark.feature("check-back-restart")
def test_the_producer_is_asked_after_the_broker_was_killed(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    transact(client, names, "no", outcome="unknown", check="rollback")
    transact(client, names, "yes", outcome="unknown", check="commit")
    ground.restart_broker()
    # A client says hello to the broker again after up to 30 s.
    receive(client, names, "yes", seconds=90)
    assert set(answers(client, names, "yes")) == {"commit"}
    client.wait_for(
        lambda _: client.checked(producer_group(names)),
        lambda events: "no" in bodies(events),
        60,
    )
    assert set(bodies(client.received(names.one))) == {"yes"}
    assert {message.body for message in ground.stored(names.topic)} == {b"yes"}
