"""Conversations recorded between real clients and Apache's broker 5.5.0, played to ours by the
client's side (`tests/broker_replay.py`). Ours answers the same, but for

    what                                       why
    times, places in the log, ids made of them they are another broker's
    wording of remarks                         ours say what to do; those of pulls are the same
    NO_MATCHED_LOGIC_QUEUE                     Apache makes a queue when it is pulled, and says that
                                               it is empty
    the checksum in a record's properties      ours has one, Apache's is off unless configured
    lists whose order means nothing            Apache's come out of hash tables
    25, subscription not latest                not answered: a pull that overtakes its heartbeat is
                                               served without a filter, which the client has, too
    queueOffset of a delayed send              counts what waits in the schedule topic, of which
                                               a conversation does not tell
    CLUSTER in a reply that is pushed          ours has it, as every message; nobody looks
    binary headers                             answered in kind, where Apache answers in JSON

`tools/broker_vectors.py` picked them. What is not served yet is skipped by name, with the reason.
"""

from typing import Any

import pytest

from aerobee.model.message import StoredMessage
from aerobee.model.properties import (
    CLUSTER,
    CRC32,
    ORIGIN_MESSAGE_ID,
    PUSH_REPLY_TIME,
    decode_properties,
)
from aerobee.protocol.json_text import parse
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.protocol.stored_message import decode_records
from tests.broker_replay import RECORDS, Exchange, Replay, conversations

NOT_SERVED = {
    "consume-pop": "pop consumption",
    "consume-sql": "SQL filters",
    "send-timer": "timer messages",
    "transaction": "transactions",
}
SUBSCRIPTION_NOT_LATEST = 25
PULLS = (11, 361)
PULL_CODES = (0, 19, 20, 21)
NO_QUEUE, EMPTY_QUEUE = "NO_MATCHED_LOGIC_QUEUE", "NO_MESSAGE_IN_QUEUE"
JAVA = [name for name in conversations() if name.startswith("java-")]
SERVED = [name for name in JAVA if not name.endswith(tuple(NOT_SERVED))]


def fields_of(request: RemotingCommand, answer: RemotingCommand) -> dict[str, str]:
    said = dict(answer.ext_fields)
    for name in ("msgId", "indexLastUpdateTimestamp", "indexLastUpdatePhyoffset"):
        if name in said:
            said[name] = "another broker's"
    if request.code == 310 and "DELAY\x01" in request.ext_fields["i"]:
        said.pop("queueOffset", None)
    return said


def meaning(message: StoredMessage) -> dict[str, object]:
    """A record without what is of one broker."""
    properties = {name: text for name, text in message.properties.items() if name != CRC32}
    if ORIGIN_MESSAGE_ID in properties:
        properties[ORIGIN_MESSAGE_ID] = "an id"
    names = ["topic", "queue_id", "queue_offset", "body", "flag", "sys_flag", "reconsume_times"]
    names += ["born_timestamp", "prepared_offset", "body_crc"]
    return {name: getattr(message, name) for name in names} | {"properties": properties}


def in_any_order(value: Any) -> Any:
    """JSON as values that can be compared: lists and tables are sorted."""
    if isinstance(value, dict):
        return sorted((repr(in_any_order(key)), in_any_order(one)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return sorted(map(repr, map(in_any_order, value)))
    return value


def body_of(request: RemotingCommand, answer: RemotingCommand) -> Any:
    body = bytes(answer.body)
    if request.code in RECORDS:
        return [meaning(message) for message in decode_records(body)]
    return in_any_order(parse(body)) if body else None


def compare(exchange: Exchange) -> None:
    request, recorded, ours = exchange
    if recorded is not None and recorded.code == SUBSCRIPTION_NOT_LATEST:
        return
    if recorded is None or ours is None:
        assert recorded is ours, "one answers and one does not"
        return
    assert (ours.code, ours.flag, ours.version) == (recorded.code, recorded.flag, recorded.version)
    assert fields_of(request, ours) == fields_of(request, recorded)
    assert body_of(request, ours) == body_of(request, recorded)
    if request.code in PULLS and recorded.code in PULL_CODES:
        assert ours.remark.replace(NO_QUEUE, EMPTY_QUEUE) == recorded.remark
    assert ours.serialize_type == request.serialize_type


def own_words(command: RemotingCommand) -> Any:
    """What a broker says by itself, without what is of one broker."""
    said: dict[str, Any] = dict(command.ext_fields)
    if command.code == 326:
        properties = decode_properties(said["properties"].encode())
        properties.pop(CLUSTER, None)
        properties[PUSH_REPLY_TIME] = "a time"
        said |= {"properties": sorted(properties.items())}
        said |= {"bornHost": "an address", "storeTimestamp": "a time"}
    return command.code, command.flag, sorted(said.items()), bytes(command.body)


@pytest.mark.parametrize("name", SERVED)
def test_a_client_is_answered_as_apache_does(name: str) -> None:
    replay = Replay(conversations()[name])
    for exchange in replay.exchanges():
        compare(exchange)
    recorded, ours = replay.own()
    assert sorted((conn, own_words(one)) for conn, one in ours) == sorted(
        (conn, own_words(one)) for conn, one in recorded
    )


def test_every_conversation_of_a_client_is_played_or_skipped_for_a_reason() -> None:
    assert len(SERVED) + sum(name.endswith(tuple(NOT_SERVED)) for name in JAVA) == len(JAVA)
    assert len(SERVED) == 58
