"""Queue mappings of static topics ⇄ JSON, on the wire, in `topicQueueMapping.json` and in the files
of RocketMQ's tool.

    detail   {"bname":"broker-a","currIdMap":{},"dirty":false,"epoch":1700000000000,
              "hostedQueues":{"0":[{"bname":"broker-a","endOffset":-1,"gen":0,"logicOffset":0,
              "queueId":0,"startOffset":0,"timeOfEnd":-1,"timeOfStart":-1}]},
              "scope":"__global__","topic":"T","totalQueues":1}
    info     the same without hostedQueues; currIdMap says the physical queue of each logical one
    topic    a topic's configuration with its detail as `mappingDetail`
    plan     {"brokerConfigMap":{"broker-a":topic},"brokerToMapIn":[],"brokerToMapOut":[],
              "epoch":…,"topic":"T","type":"REMAPPING"}

Numbers as keys are read bare or quoted, and written quoted.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from aerobee.errors import RemoteProtocolError
from aerobee.model.mapping_plan import MappingPlan, StaticTopic
from aerobee.model.queue_mapping import GLOBAL_SCOPE, Chain, MappingInfo, MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.topic_config import topic_config_from, topic_config_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import (
    Key,
    Parsed,
    Scalar,
    Value,
    by_number,
    parse_tables,
    write_compact,
)

BODY_BYTES_MAX = 4 << 20  # 30,000 items
_CREATED, _REMAPPED = "CREATE_OR_UPDATE", "REMAPPING"


def mapping_json(mapping: TopicMapping) -> dict[str, Value]:
    return {
        **_head(mapping),
        "currIdMap": {},
        "hostedQueues": {
            str(number): [_item_json(item) for item in chain]
            for number, chain in mapping.hosted.items()
        },
    }


def mapping_from(members: Members, topic: str = "") -> TopicMapping:
    """`topic` is its key in a table, if its own member is not there."""
    hosted = members.object("hostedQueues")
    return TopicMapping(
        members.text("topic", topic),
        members.text("bname"),
        members.int64("epoch", 0),
        members.int32("totalQueues", 0),
        {
            number: _chain_from(Members({"items": chain}, f"queue {number} of {hosted.what}"))
            for number, chain in by_number(hosted.plain()).items()
        },
        members.text("scope", GLOBAL_SCOPE),
        members.is_true("dirty"),
    )


def info_json(info: MappingInfo) -> dict[Key, Parsed]:
    said: dict[Key, Parsed] = dict(_head(info).items())
    said["currIdMap"] = {str(number): queue for number, queue in info.led.items()}
    return said


def info_from(members: Members) -> MappingInfo:
    return MappingInfo(
        members.text("topic", ""),
        members.text("bname"),
        members.int64("epoch", 0),
        members.int32("totalQueues", 0),
        members.object("currIdMap").numbers_by_number(),
        members.text("scope", GLOBAL_SCOPE),
        members.is_true("dirty"),
    )


def decode_infos(mappings: Iterable[object]) -> list[MappingInfo]:
    """Those of a route, which has them as they were read."""
    return [info_from(Members(cast(Parsed, one), "a mapping")) for one in mappings]


def encode_mapping(mapping: TopicMapping) -> bytes:
    return write_compact(mapping_json(mapping))


def decode_mapping(body: bytes) -> TopicMapping:
    return mapping_from(_parsed(body, "the mapping"))


def encode_static_topic(config: TopicConfig, mapping: TopicMapping | None) -> bytes:
    """A topic's configuration, with its mapping if it is a static topic."""
    return write_compact(_static_topic_json(config, mapping))


def decode_static_topic(body: bytes) -> StaticTopic | None:
    """The topic with its mapping; None: it is an ordinary topic."""
    return _static_topic_from(_parsed(body, "the topic"))


def encode_plan(plan: MappingPlan) -> bytes:
    brokers = {
        name: _static_topic_json(one.config, one.mapping) for name, one in plan.brokers.items()
    }
    return write_compact(
        {
            "brokerConfigMap": brokers,
            "brokerToMapIn": sorted(plan.gaining),
            "brokerToMapOut": sorted(plan.losing),
            "epoch": plan.epoch,
            "topic": plan.topic,
            "type": _REMAPPED if plan.gaining else _CREATED,
        }
    )


def decode_plan(text: bytes) -> MappingPlan:
    """RemoteProtocolError: it is not valid."""
    members = _parsed(text, "the plan")
    brokers = {}
    for name, one in members.object("brokerConfigMap").objects():
        found = _static_topic_from(one)
        if found is None:
            raise RemoteProtocolError(f"the plan has no mapping of the broker {name[:100]}")
        brokers[name] = found
    return MappingPlan(
        members.text("topic"),
        members.int64("epoch"),
        brokers,
        _names(members, "brokerToMapIn"),
        _names(members, "brokerToMapOut"),
    )


def _parsed(text: bytes, what: str) -> Members:
    return Members(parse_tables(text, bytes_max=BODY_BYTES_MAX), what)


def _names(members: Members, name: str) -> frozenset[str]:
    found = members.array(name)
    names = [one for one in found if isinstance(one, str)]
    if len(names) < len(found):
        raise RemoteProtocolError(f"{name} of {members.what} has an item that is no text")
    return frozenset(names)


def _static_topic_json(config: TopicConfig, mapping: TopicMapping | None) -> Mapping[str, Value]:
    topic = topic_config_json(config)
    return topic if mapping is None else {**topic, "mappingDetail": mapping_json(mapping)}


def _static_topic_from(members: Members) -> StaticTopic | None:
    if not members.has("mappingDetail"):
        return None
    mapping = mapping_from(members.object("mappingDetail"))
    return StaticTopic(topic_config_from(members, members.text("topicName")), mapping)


def _head(mapping: TopicMapping | MappingInfo) -> dict[str, Scalar]:
    return {
        "bname": mapping.broker,
        "dirty": mapping.is_dirty,
        "epoch": mapping.epoch,
        "scope": mapping.scope,
        "topic": mapping.topic,
        "totalQueues": mapping.total_queues,
    }


def _item_json(item: MappingItem) -> dict[str, Value]:
    return {
        "bname": item.broker,
        "endOffset": item.end_offset,
        "gen": item.gen,
        "logicOffset": item.logic_offset,
        "queueId": item.queue_id,
        "startOffset": item.start_offset,
        "timeOfEnd": item.end_ms,
        "timeOfStart": item.start_ms,
    }


def _chain_from(members: Members) -> Chain:
    return tuple(
        _item_from(Members(one, f"an item of {members.what}")) for one in members.array("items")
    )


def _item_from(members: Members) -> MappingItem:
    return MappingItem(
        members.int32("gen", 0),
        members.int32("queueId", 0),
        members.text("bname"),
        members.int64("logicOffset", 0),
        members.int64("startOffset", 0),
        members.int64("endOffset", -1),
        members.int64("timeOfStart", -1),
        members.int64("timeOfEnd", -1),
    )
