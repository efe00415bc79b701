from typing import Any, cast

import pytest

from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel
from aerobee.protocol.bodies.connections import (
    Connection,
    ConsumerManner,
    encode_client_ids,
    encode_consumer_connections,
    encode_producer_connections,
    encode_producer_table,
    version_name,
    version_number,
)
from aerobee.protocol.bodies.subscription import subscription_from
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from tests.captured import captured


def recorded(name: str) -> tuple[bytes, dict[str, Any]]:
    """The body of the answer that was no refusal, and what it says."""
    (body,) = [bytes(one.body) for one in captured(name, "response") if one.code == 0]
    return body, cast("dict[str, Any]", parse(body))


def connection(said: dict[str, Any]) -> Connection:
    return Connection(
        said["clientId"],
        said.get("clientAddr") or said["remoteIP"].removeprefix("/"),
        said["language"],
        said["version"],
        said.get("lastUpdateTimestamp", 0),
    )


def test_the_consumers_of_a_group_are_shown_as_apache_does() -> None:
    body, said = recorded("GET_CONSUMER_CONNECTION_LIST")
    again = encode_consumer_connections(
        map(connection, said["connectionSet"]),
        ConsumerManner(
            ConsumeType(said["consumeType"]),
            MessageModel(said["messageModel"]),
            ConsumeFrom(said["consumeFromWhere"]),
        ),
        [subscription_from(Members(one, "it")) for one in said["subscriptionTable"].values()],
    )
    assert again == body


def test_the_producers_of_a_group_are_shown_as_apache_does() -> None:
    body, said = recorded("GET_PRODUCER_CONNECTION_LIST")
    assert encode_producer_connections(map(connection, said["connectionSet"])) == body


def test_all_producers_are_shown_as_apache_does() -> None:
    body, said = recorded("GET_ALL_PRODUCER_INFO")
    groups = {group: map(connection, members) for group, members in said["data"].items()}
    assert encode_producer_table(groups) == body


def test_the_members_of_a_group_are_listed_as_apache_does() -> None:
    for answer in captured("GET_CONSUMER_LIST_BY_GROUP", "response"):
        said = cast("dict[str, Any]", parse(bytes(answer.body)))
        assert encode_client_ids(said["consumerIdList"]) == bytes(answer.body)


def test_a_language_that_javas_tools_do_not_know_is_another() -> None:
    body = encode_producer_connections([Connection("c", "a", "COBOL", 1, 0)])
    assert b'"language":"OTHER"' in body


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (513, "V5_5_0"),
        (512, "V5_5_0_SNAPSHOT"),
        (401, "V4_9_4"),
        (213, "V4_0_0"),
        (212, "V4_0_0_SNAPSHOT"),
        (45, "V3"),
    ],
)
def test_versions_have_the_names_that_rocketmq_gives_them(number: int, name: str) -> None:
    assert version_name(number) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("5.5.0", "V5_5_0"), ("4.9.8", "V4_9_8"), ("5.0.7-SNAPSHOT", "V5_0_7"), ("4.0.0", "V4_0_0")],
)
def test_a_release_that_a_client_names_has_the_number_of_its_name(text: str, name: str) -> None:
    number = version_number(text)
    assert number is not None
    assert version_name(number) == name


@pytest.mark.parametrize("text", ["", "x", "5.0", "5.12.0", "5.0.12", "1.0.7", "5\u0660.1.2"])
def test_other_words_of_clients_have_no_number(text: str) -> None:
    assert version_number(text) is None
