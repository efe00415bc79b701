"""A message of a transaction over gRPC is there when its producer says so, and only then."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies

TEXTS_SECONDS_MAX = 60


def transact(client: Program, names: Names, *texts: str, outcome: str, check: str) -> None:
    fields = {"tags": "red", "keys": "k1", "colour": "teal", "outcome": outcome, "check": check}
    client.send("transaction", names.topic, *texts, **fields)


def stored(ground: Ground, names: Names, count: int) -> list[str]:
    messages = ground.stored_all(names.topic, count, TEXTS_SECONDS_MAX)
    return sorted(message.body.decode() for message in messages)


def answers(client: Program, names: Names, text: str) -> list[str]:
    client.linger(0.1)
    return [event["answer"] for event in client.checked(names.topic) if event["body"] == text]


@pytest.mark.feature("grpc-transaction")
def test_what_was_committed_is_there_and_what_was_rolled_back_is_not(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="TRANSACTION")
    ground.create_group(names.group, retries=16)
    # Who forgot what it was told would ask, and get the opposite.
    transact(client, names, "yes 1", "yes 2", outcome="commit", check="rollback")
    transact(client, names, "no 1", "no 2", outcome="rollback", check="commit")
    # Transactions are looked after in their order: with this one, all before it were.
    transact(client, names, "last", outcome="unknown", check="commit")
    assert stored(ground, names, 3) == ["last", "yes 1", "yes 2"]
    client.open(names.one, names.group, names.topic)
    found = client.take(names.one, 3)
    client.ack(names.one, found)
    assert sorted(bodies(found)) == ["last", "yes 1", "yes 2"]
    for event in found:
        assert (event["tags"], event["keys"], event["colour"]) == ("red", "k1", "teal")


@pytest.mark.feature("grpc-check-back")
def test_the_producer_is_asked_until_it_knows(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="TRANSACTION")
    transact(client, names, "no", outcome="unknown", check="rollback")
    transact(client, names, "later", outcome="unknown", check="unknown unknown commit")
    transact(client, names, "yes", outcome="unknown", check="commit")
    assert stored(ground, names, 2) == ["later", "yes"]
    # More of them if an answer took longer than the next question.
    assert answers(client, names, "later")[:3] == ["unknown", "unknown", "commit"]
    assert set(answers(client, names, "yes")) == {"commit"}
    assert set(answers(client, names, "no")) == {"rollback"}
