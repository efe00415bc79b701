"""The body of REGISTER_BROKER: the topics that a broker tells a name server, in one of two forms.

JSON (`compressed` is false; brokers before 3.0.11 send the inner object alone):

    {"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{…},"mappingDataVersion":{…},
     "topicConfigTable":{"T":{…}},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}}

Compressed: one zlib stream of the following; n, and every count, is an int32, big-endian.

    n, n bytes              the data version, JSON
    count                   of topics
    per topic n, n bytes    `name readQueues writeQueues perm filterType attributes`, the last
                            one JSON, absent before 5.0; system flag and order are not carried
    n, n bytes              the filter servers, a JSON array
    count                   of mappings, if the sender is 5.0 or newer
    per mapping n, n bytes  JSON

The stream must end where it says, and grows to `EXPANDED_BYTES_MAX` at most.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from aerobee.errors import RemoteProtocolError
from aerobee.model.flags import COMPRESSED
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_config import (
    data_version_from,
    data_version_json,
    decode_data_version,
    encode_data_version,
    topic_config_from,
    topic_config_json,
)
from aerobee.protocol.message.compression import decompress
from aerobee.protocol.text.fields import INT32, read_number
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Key, Parsed, Value, parse, write_compact, write_standard

EXPANDED_BYTES_MAX = 32 * 1024 * 1024  # 300,000 topics; a JSON body ends at the frame's 16 MiB
MAPPING_VERSION_MIN = 413  # V5_0_0
DIALECT_BYTES_MAX = 2 * 1024 * 1024  # with static topics, 12,000 in all
NO_VERSION = DataVersion()
_CRC_MASK = 0x7FFFFFFF  # Java's, which has no unsigned int


@dataclass(frozen=True, slots=True)
class RegisterBroker:
    """A registration: all topics, or those that changed. The body does not tell which of both."""

    topics: Mapping[str, TopicConfig]
    version: DataVersion = NO_VERSION
    mappings: Mapping[str, Mapping[Key, Parsed]] = field(default_factory=dict)
    """Of static topics, by topic: passed on to clients as they are."""


def body_crc(body: bytes) -> int:
    """The value of the field `bodyCrc32` for a body, as it is sent."""
    return zlib.crc32(body) & _CRC_MASK


def encode_register_broker(upload: RegisterBroker) -> bytes:
    topics = {name: topic_config_json(config) for name, config in upload.topics.items()}
    wrapper: dict[str, Value] = {
        "dataVersion": data_version_json(upload.version),
        "mappingDataVersion": data_version_json(NO_VERSION),
        "topicConfigTable": topics,
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": upload.mappings,
    }
    # The standard library's writer is twice as fast, and no body is larger; but
    # mappings may have what only the dialect can say.
    write = write_compact if upload.mappings else write_standard
    return write({"filterServerList": [], "topicConfigSerializeWrapper": wrapper})


def encode_compressed_register_broker(upload: RegisterBroker) -> bytes:
    """The form for versions from 5.0 on."""
    parts = [_sized(encode_data_version(upload.version)), _int32(len(upload.topics))]
    for config in upload.topics.values():
        attributes = write_compact(dict(config.attributes)).decode()
        text = (
            f"{config.name} {config.read_queues} {config.write_queues} {config.permission} "
            f"{config.filter_type} {attributes}"
        )
        parts.append(_sized(text.encode()))
    parts += (_sized(b"[]"), _int32(len(upload.mappings)))
    parts += (_sized(write_compact(mapping)) for mapping in upload.mappings.values())
    return zlib.compress(b"".join(parts), 1)  # at 100,000 topics, a tenth of the time of 9


def decode_register_broker(body: bytes, *, is_compressed: bool, version: int) -> RegisterBroker:
    """`version` is the sender's. An empty body is an upload of nothing."""
    if not body:
        return RegisterBroker({})
    if is_compressed:
        return _decode_compressed(body, version)
    members = Members(parse(body, dialect_bytes_max=DIALECT_BYTES_MAX), "the registration")
    if members.has("topicConfigSerializeWrapper"):
        members = members.object("topicConfigSerializeWrapper")
    return RegisterBroker(
        topics={
            name: topic_config_from(topic, name)
            for name, topic in members.object("topicConfigTable").objects()
        },
        version=data_version_from(members.object("dataVersion")),
        mappings={
            name: mapping.plain()
            for name, mapping in members.object("topicQueueMappingInfoMap").objects()
        },
    )


def _decode_compressed(body: bytes, version: int) -> RegisterBroker:
    reader = _Reader(decompress(body, COMPRESSED, bytes_max=EXPANDED_BYTES_MAX))
    data_version = decode_data_version(reader.sized())
    topics = {}
    for _ in range(reader.count()):
        config = _topic_from(reader.sized())
        topics[config.name] = config
    reader.sized()  # filter servers went out with 4.x
    mappings = {}
    if version >= MAPPING_VERSION_MIN:
        dialect_left = DIALECT_BYTES_MAX  # for all of them together
        for _ in range(reader.count()):
            text = reader.sized()
            mapping = Members(parse(text, dialect_bytes_max=dialect_left), "a mapping")
            dialect_left = max(0, dialect_left - len(text))
            mappings[mapping.text("topic")] = mapping.plain()
    if not reader.is_at_end():
        raise RemoteProtocolError("the registration goes on after its end")
    return RegisterBroker(topics, data_version, mappings)


def _topic_from(text: bytes) -> TopicConfig:
    try:
        name, read_queues, write_queues, permission, filter_type, *rest = text.decode().split(
            " ", 5
        )
        attributes = (
            Members(parse(rest[0].encode(), dialect_bytes_max=0), "attributes").texts()
            if rest
            else {}
        )
    except ValueError:
        raise RemoteProtocolError(f"a topic that cannot be read: {text[:100]!r}") from None
    return TopicConfig(
        name,
        read_number("readQueueNums", read_queues, INT32),
        read_number("writeQueueNums", write_queues, INT32),
        read_number("perm", permission, INT32),
        filter_type=filter_type,
        attributes=attributes,
    )


class _Reader:
    """Runs of bytes, each after its length."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def sized(self) -> bytes:
        size = self.count()
        start = self._position
        self._position += size
        return self._data[start : self._position]

    def count(self) -> int:
        """A length or a number of runs: never more than there are bytes left."""
        start = self._position
        self._position += 4
        number = int.from_bytes(self._data[start : self._position], "big", signed=True)
        if not 0 <= number <= len(self._data) - self._position:
            raise RemoteProtocolError(f"the registration ends before a run of {number} does")
        return number

    def is_at_end(self) -> bool:
        return self._position == len(self._data)


def _sized(data: bytes) -> bytes:
    return _int32(len(data)) + data


def _int32(number: int) -> bytes:
    return number.to_bytes(4, "big")
