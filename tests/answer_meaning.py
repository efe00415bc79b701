"""The meaning of an answer without what is of one broker, to compare ours with Apache's."""

import re
from dataclasses import replace
from typing import Any

from aerobee.model.message import StoredMessage
from aerobee.model.properties import (
    CLUSTER,
    CRC32,
    FIRST_POP_TIME,
    ORIGIN_MESSAGE_ID,
    POP_CHECKPOINT,
    PUSH_REPLY_TIME,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
    WAIT,
    decode_properties,
)
from aerobee.protocol.message.recall_handle import decode_recall_handle
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.text.json_text import parse
from tests.broker_past import RECORDS

_OF_ONE_BROKER = (
    "msgId",
    "indexLastUpdateTimestamp",
    "indexLastUpdatePhyoffset",
    "version",
    "popTime",
    "reviveQid",
)
_MEASURED = {
    "consumeTps",
    "topicPutTps",
    "lastUpdateTimestamp",
    "clientAddr",
    "remoteIP",
    "dataVersion",
    "mappingDataVersion",
    "physicOffset",
    "physicSize",
    "tagsCode",
}
"""Members of bodies: rates, times, addresses, units of a queue."""


def fields_of(request: RemotingCommand, answer: RemotingCommand) -> dict[str, str]:
    said = {
        name: "of one broker" if name in _OF_ONE_BROKER else text
        for name, text in answer.ext_fields.items()
    }
    if request.code == 310 and "DELAY\x01" in request.ext_fields["i"]:
        said.pop("queueOffset", None)
    if "recallHandle" in said and "TIMER_DELAY" in request.ext_fields["i"]:
        # For a time that counts from a clock's.
        handle = decode_recall_handle(said["recallHandle"])
        said["recallHandle"] = str(replace(handle, deliver_ms=0))
    return said


def body_of(request: RemotingCommand, answer: RemotingCommand) -> Any:
    body = bytes(answer.body)
    if request.code in RECORDS:
        return [_message(message) for message in decode_records(body)]
    if request.code == 317:  # Apache leaves these at 0, and counts from there
        body = re.sub(rb'"(pullOffset|totalInflightDiff)":-?[0-9]+', b'"left":0', body)
    return in_any_order(parse(body)) if body else None


def _message(message: StoredMessage) -> dict[str, object]:
    properties = {name: text for name, text in message.properties.items() if name != CRC32}
    if ORIGIN_MESSAGE_ID in properties:
        properties[ORIGIN_MESSAGE_ID] = "an id"
    properties |= dict.fromkeys(properties.keys() & {FIRST_POP_TIME, POP_CHECKPOINT}, "of a time")
    names = ["topic", "queue_id", "queue_offset", "body", "flag", "sys_flag", "reconsume_times"]
    names += ["born_timestamp", "prepared_offset", "body_crc"]
    return {name: getattr(message, name) for name in names} | {"properties": properties}


def in_any_order(value: Any) -> Any:
    """JSON as values that can be compared: lists and tables sorted, without what is measured."""
    if isinstance(value, dict):
        return sorted(
            (repr(in_any_order(key)), in_any_order(one))
            for key, one in value.items()
            if key not in _MEASURED
        )
    if isinstance(value, list | tuple):
        return sorted(map(repr, map(in_any_order, value)))
    return value


def own_words(said: list[tuple[int, RemotingCommand]]) -> list[Any]:
    """What a broker says by itself, on which connection, in any order."""
    return sorted((connection, _own_words(command)) for connection, command in said)


def _own_words(command: RemotingCommand) -> Any:
    said: dict[str, Any] = dict(command.ext_fields)
    if "msgId" in said:
        said["msgId"] = "an id"
    if command.code == 326:
        properties = decode_properties(said["properties"].encode())
        properties.pop(CLUSTER, None)
        properties[PUSH_REPLY_TIME] = "a time"
        said |= {"properties": sorted(properties.items())}
        said |= {"bornHost": "an address", "storeTimestamp": "a time"}
    body: Any = bytes(command.body)
    if command.code == 39:
        said |= {"commitLogOffset": "a place", "offsetMsgId": "an id"}
        body = [_without_own(_message(message)) for message in decode_records(body)]
    if command.code == 309:
        body = [_message(message) for message in decode_records(body)]
    return command.code, command.flag, sorted(said.items()), repr(body)


def _without_own(message: dict[str, object]) -> object:
    """A half that a producer is asked about: ours says which it was first, Apache's that nobody
    waited for it to be stored."""
    properties = message["properties"]
    assert isinstance(properties, dict)
    kept = {
        name: text
        for name, text in properties.items()
        if name not in (WAIT, TRANSACTION_PREPARED_QUEUE_OFFSET)
    }
    return sorted({**message, "properties": sorted(kept.items())}.items())
