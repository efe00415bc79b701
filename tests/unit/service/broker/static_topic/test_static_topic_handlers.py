from collections.abc import Mapping
from dataclasses import replace

import pytest

from aerobee.model.queue_mapping import MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.queue_mapping import decode_static_topic, encode_mapping
from aerobee.protocol.bodies.register_broker import decode_register_broker
from aerobee.protocol.bodies.topic_table import decode_topic_config
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import BrokerKit, create_fields

CONFIG = TopicConfig("T", 2, 2)
MAPPING = TopicMapping("T", "broker-a", 5, 2, {1: (MappingItem(0, 1, "broker-a", 0),)})


def make(
    kit: BrokerKit,
    mapping: TopicMapping = MAPPING,
    config: TopicConfig = CONFIG,
    more: Mapping[str, str] | None = None,
) -> RemotingCommand:
    fields = {**create_fields(config), **(more or {})}
    return kit.ask(513, fields, encode_mapping(mapping))


def test_a_static_topic_is_made_shown_and_there_after_a_kill() -> None:
    kit = BrokerKit()
    assert make(kit).code == 0
    for one in (kit, kit.killed()):
        answer = one.ask(351, {"topic": "T", "lo": "true"})
        found = decode_static_topic(bytes(answer.body))
        assert found is not None
        assert (found.config, found.mapping) == (CONFIG, MAPPING)
        plain = one.ask(351, {"topic": "T"})
        assert decode_static_topic(bytes(plain.body)) is None


@pytest.mark.parametrize(
    ("mapping", "config", "why"),
    [
        (replace(MAPPING, topic="U"), CONFIG, "of the topic 'U'"),
        (replace(MAPPING, broker="broker-b"), CONFIG, "of the broker 'broker-b'"),
        (replace(MAPPING, total_queues=1), CONFIG, "queue number 1"),
        (MAPPING, replace(CONFIG, name="TBW102"), "conflict with system topic"),
        (MAPPING, replace(CONFIG, name="a b"), "only letters"),
        (MAPPING, replace(CONFIG, write_queues=1), "physical queue 1, but the topic has 1 here"),
        (MAPPING, replace(CONFIG, read_queues=5000), "not from 0 to 4096"),
    ],
)
def test_a_mapping_that_is_wrong_is_refused_and_changes_nothing(
    mapping: TopicMapping, config: TopicConfig, why: str
) -> None:
    kit = BrokerKit()
    answer = make(kit, mapping, config)
    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert why in answer.remark
    assert kit.ask(351, {"topic": "T", "lo": "true"}).code == ResponseCode.TOPIC_NOT_EXIST


def test_an_older_epoch_never_wins_unless_it_is_forced() -> None:
    kit = BrokerKit()
    make(kit)
    older = replace(MAPPING, epoch=4)
    answer = make(kit, older)
    assert (answer.code, "small epoch" in answer.remark) == (ResponseCode.SYSTEM_ERROR, True)
    assert make(kit, older, replace(CONFIG, write_queues=2, read_queues=9)).code != 0
    config = decode_topic_config(bytes(kit.ask(351, {"topic": "T"}).body))
    assert config.write_queues == 2
    wide = TopicConfig("T", 9, 9)
    assert make(kit, replace(MAPPING, epoch=6), wide).code == 0
    assert make(kit, older, CONFIG).code != 0
    config = decode_topic_config(bytes(kit.ask(351, {"topic": "T"}).body))
    assert config == wide  # a refused mapping takes no queue away
    assert make(kit, older, more={"force": "true"}).code == 0


def test_a_body_that_is_no_mapping_is_refused() -> None:
    kit = BrokerKit()
    for body in (b"", b"[]", b'{"bname":1}', b"\xff", b"{" * 5000):
        assert kit.ask(513, create_fields(CONFIG), body).code != 0
    assert kit.ask(351, {"topic": "T"}).code == ResponseCode.TOPIC_NOT_EXIST


def test_name_servers_are_told_of_a_mapping_even_if_the_topic_stays_the_same() -> None:
    kit = BrokerKit(addresses=("ns:1",))

    def uploads() -> list[dict[str, object]]:
        dialed, kit.dialed = kit.dialed, []
        found: list[dict[str, object]] = []
        for dial in dialed:
            if dial.command.code == 103:
                body = bytes(dial.command.body)
                upload = decode_register_broker(body, is_compressed=False, version=513)
                found.append({"version": upload.version, **upload.mappings})
            kit.answer_dial(dial)
        return found

    kit.tick()
    uploads()
    versions = []
    for mapping in (MAPPING, replace(MAPPING, epoch=6)):
        kit.tell(513, create_fields(CONFIG), encode_mapping(mapping))
        told: dict[str, object] = {}
        answers: list[RemotingCommand] = []
        while not answers:
            kit.finish()
            told = [told, *uploads()][-1]
            answers = kit.heard()
        assert answers[0].code == 0
        versions.append(told["version"])
        info = told["T"]
        assert isinstance(info, dict)
        assert (info["epoch"], info["currIdMap"]) == (mapping.epoch, {"1": 1})
    assert versions[0] != versions[1]


def test_a_deleted_topic_has_no_mapping_left() -> None:
    kit = BrokerKit()
    make(kit)
    assert kit.ask(215, {"topic": "T"}).code == 0
    kit.make_topic(TopicConfig("T", 1, 1))
    answer = kit.ask(351, {"topic": "T", "lo": "true"})
    assert decode_static_topic(bytes(answer.body)) is None


def test_attributes_of_a_topic_stay() -> None:
    typed = replace(CONFIG, attributes={"message.type": "FIFO"})
    kit = BrokerKit(typed)
    make(kit)
    make(kit, replace(MAPPING, epoch=9))
    found = decode_static_topic(bytes(kit.ask(351, {"topic": "T", "lo": "true"}).body))
    assert found is not None
    assert found.config == typed
