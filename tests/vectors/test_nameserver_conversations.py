"""Conversations recorded between real brokers, clients and tools and Apache's name server 5.5.0,
played to ours: it answers the same, byte for byte but for lists, whose order means nothing.

`tools/nameserver_vectors.py` picked them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from aerobee.app.settings.config import Given, ListenConfig
from aerobee.app.settings.nameserver_settings import read_settings
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.register_broker import RegisterBroker, encode_register_broker
from aerobee.protocol.bodies.small_tables import decode_topic_list
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from aerobee.protocol.text.java_properties import parse_properties
from aerobee.service.access.config import CALLER_LIMIT_SETTINGS
from tests.nameserver_kit import NameServerKit, place

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "nameserver.jsonl").read_text("utf-8").splitlines()
]
BROKER_ADDRESS = "127.0.0.1:50911"
PEER = ChannelId(9)


def command(frame: str) -> RemotingCommand:
    frames = FrameReader()
    frames.receive(bytes.fromhex(frame))
    assert frames.advance()
    return decode(frames)


def rows_of(*conversations: str) -> list[dict[str, Any]]:
    found = [row for name in conversations for row in ROWS if row["of"] == name]
    assert {row["of"] for row in found} == set(conversations)
    return found


def play(kit: NameServerKit, row: dict[str, Any]) -> None:
    """Ask what was asked; the answer is the recorded one, but for its remark."""
    answers = kit.send(command(row["request"]), PEER)
    if row["answer"] is None:
        assert answers == []
        return
    (answer,) = answers
    recorded = command(row["answer"])
    assert (answer.code, answer.opaque, answer.flag, answer.version) == (
        recorded.code,
        recorded.opaque,
        recorded.flag,
        recorded.version,
    )
    assert answer.ext_fields == recorded.ext_fields
    assert bool(answer.remark) == bool(recorded.remark)
    assert bytes(answer.body) == bytes(recorded.body)


def test_a_broker_registers_repeats_gains_a_topic_and_leaves() -> None:
    kit = NameServerKit()
    rows = rows_of("broker-5.5.0-registration")
    for row in rows:
        play(kit, row)
        if command(row["request"]).ext_fields.get("bodyCrc32") == "1960474019":
            route = decode_topic_route(bytes(kit.ask(105, {"topic": "Registered"}).body))
            assert [q.read_queues for q in route.queues] == [2]
    assert command(rows[-1]["request"]).code == 106


def test_a_broker_in_acting_mode_beats_by_asking_for_the_version() -> None:
    kit = NameServerKit()
    # The name server of the recording had an order configuration that was deleted since.
    named = {"namespace": "ORDER_TOPIC_CONFIG", "key": "k"}
    kit.ask(100, {**named, "value": "v"})
    kit.ask(102, named)
    for row in rows_of("broker-5.5.0-registration-acting"):
        play(kit, row)


def with_broker(*topics: TopicConfig) -> NameServerKit:
    """A name server with the broker of the recordings."""
    kit = NameServerKit()
    register(kit, *topics)
    return kit


def register(kit: NameServerKit, *topics: TopicConfig, mapping: Any = None) -> None:
    upload = RegisterBroker(
        {topic.name: topic for topic in topics},
        mappings={} if mapping is None else {mapping["topic"]: mapping},
    )
    fields = {**place("broker-a", 0, BROKER_ADDRESS), "enableActingMaster": "false"}
    assert kit.ask(103, fields, encode_register_broker(upload)).code == 0


TEMPLATE = TopicConfig("TBW102", 8, 8, 7)
HELD = TopicConfig("Held6af97907", 4, 4)


@pytest.mark.parametrize("client", ["java-4.9.8-send-autocreate", "java-5.5.0-send-autocreate"])
def test_a_producer_finds_no_topic_and_takes_the_template(client: str) -> None:
    kit = with_broker(TEMPLATE, HELD)
    for row in rows_of(client):
        play(kit, row)


def test_a_client_with_binary_headers_is_answered_the_same() -> None:
    kit = with_broker(TEMPLATE, TopicConfig("Plain550binary", 2, 2))
    for row in rows_of("java-5.5.0-send-sync-binary"):
        play(kit, row)


def test_a_static_topic_is_routed_with_its_mapping() -> None:
    kit = with_broker(TEMPLATE, HELD)
    (row,) = rows_of("mqadmin-5.5.0-topicRoute-of-static-topic")
    mapping = json.loads(bytes(command(row["answer"]).body))["topicQueueMappingByBroker"]
    # A broker writes the ids of its queues bare; the route has them quoted.
    bare = {**mapping["broker-a"], "currIdMap": {0: 0, 1: 1, 2: 2, 3: 3}}
    register(kit, TEMPLATE, TopicConfig("HeldStatic6af97907", 4, 4), mapping=bare)
    play(kit, row)


def test_tools_see_change_and_undo() -> None:
    """One long session of an administrator, in the order in which it was recorded."""
    kit = with_broker(TEMPLATE, HELD)
    session = [
        "topicRoute-l",
        "topicRoute-of-unknown-topic",
        "clusterList",
        "updateNamesrvConfig",
        "updateOrderConf-put",
        "updateOrderConf-get",
        "updateOrderConf-delete",
        "updateOrderConf-get-after-delete",
        "updateKvConfig",
        "deleteKvConfig",
    ]
    for row in rows_of(*(f"mqadmin-5.5.0-{name}" for name in session)):
        play(kit, row)
    # By then the broker had 24 topics.
    register(kit, TEMPLATE, HELD, *(TopicConfig(f"T{i}") for i in range(22)))
    session = [
        "wipeWritePerm",
        "topicRoute-after-wipeWritePerm",
        "addWritePerm",
        "topicRoute-after-addWritePerm",
        "deleteTopic",
        "topicRoute-of-deleted-topic",
    ]
    for row in rows_of(*(f"mqadmin-5.5.0-{name}" for name in session)):
        play(kit, row)


def test_all_topics_are_listed() -> None:
    (row,) = rows_of("mqadmin-5.5.0-topicList")
    recorded = decode_topic_list(bytes(command(row["answer"]).body))
    kit = with_broker(*(TopicConfig(name) for name in recorded))
    (answer,) = kit.send(command(row["request"]))
    assert sorted(decode_topic_list(bytes(answer.body))) == sorted(recorded)


def test_the_configuration_is_apaches_without_what_does_not_apply_or_is_a_path() -> None:
    (row,) = rows_of("mqadmin-5.5.0-getNamesrvConfig")
    recorded, ours = (
        {key: value for _, key, value in parse_properties(bytes(answer.body).decode())}
        for answer in (command(row["answer"]), *NameServerKit().send(command(row["request"])))
    )
    for setting in CALLER_LIMIT_SETTINGS:  # only Aerobee has these
        del ours[setting.key]
    assert ours.keys() <= recorded.keys()
    assert {key: recorded[key] for key in ours if key != "listenPort"} == {
        key: value for key, value in ours.items() if key != "listenPort"
    }
    assert not ours.keys() & {"kvConfigPath", "configStorePath", "rocketmqHome", "configBlackList"}


def test_a_file_with_everything_that_apache_says_of_itself_is_taken() -> None:
    (row,) = rows_of("mqadmin-5.5.0-getNamesrvConfig")
    text = bytes(command(row["answer"]).body).decode()
    given = [Given(key, value, "Apache") for _, key, value in parse_properties(text)]
    settings = read_settings(None, {}, given)
    assert settings.listen == ListenConfig(59876, "127.0.0.2")
    assert settings.paths.key_values == "./namesrv/kvConfig.json"
    assert set(settings.ignored) <= {item.key for item in given}
