"""Requests that no client of ours would send, made from what the services themselves ask for.

A service in memory is asked with fields that write down which of them are read: so a handler that
is new is covered without a line here. Of requests whose body says something a good one is named in
`BODIES`, and spoiled member by member.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import BrokerKit
from tests.nameserver_kit import CLIENT, NameServerKit

LONG = "a" * 32_768
TEXTS = (
    "",
    "x",
    " ",
    "-1",
    "2147483647",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1e99",
    "0x10",
    "1_0",
    " 7\n",
    "١٢",
    "true",
    LONG,
    "9" * 5000,
    "a\0b",
    "\x01\x02",
    "../../../../etc/passwd",
    "%RETRY%../..",
    "a@b",
    "a;b,c:d",
    "日本語🐝\u2028\u202e",
    '{"a":[1]}',
)
FORMS = (JSON_TYPE, BINARY_TYPE)

# What makes a request that a handler takes; anything else is a 1, which is text and number at once.
GOOD = {
    "brokerAddr": "127.0.0.1:1",
    "brokerName": "hostile",
    "clusterName": "DefaultCluster",
    "topicFilterType": "SINGLE_TAG",
    "expressionType": "TAG",
    "attributes": "",
    "dataVersion": "",
    "bodyCrc32": "0",
    "heartbeatTimeoutMillis": "120000",
    "compressed": "false",
    "suspendTimeoutMillis": "0",
    "i": "",
    "properties": "",
    "b": "Hostile",
    "topic": "Hostile",
    "e": "0",
    "queueId": "0",
    "msgId": "7F00000100002A9F0000000000000000",
    "extraInfo": "0 1700000000000 1000 0 0 broker-a 0 0",
    "pollTime": "0",
}

_HEARTBEAT = {
    "clientID": "hostile",
    "heartbeatFingerprint": 7,
    "withoutSub": False,
    "producerDataSet": [{"groupName": "hostile"}],
    "consumerDataSet": [
        {
            "groupName": "hostile",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "unitMode": False,
            "subscriptionDataSet": [
                {
                    "topic": "Hostile",
                    "subString": "a||b",
                    "subVersion": 1,
                    "expressionType": "TAG",
                    "tagsSet": ["a"],
                    "codeSet": [97],
                    "classFilterMode": False,
                }
            ],
        }
    ],
}
_LOCK = {
    "clientId": "hostile",
    "consumerGroup": "hostile",
    "onlyThisBroker": True,
    "mqSet": [{"topic": "Hostile", "brokerName": "b", "queueId": 0}],
}
_GROUP = {
    "groupName": "hostile",
    "consumeEnable": True,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "attributes": {},
    "groupRetryPolicy": {"type": "CUSTOMIZED"},
}
_TOPIC = {
    "topicName": "Hostile2",
    "readQueueNums": 1,
    "writeQueueNums": 1,
    "perm": 6,
    "topicFilterType": "SINGLE_TAG",
    "topicSysFlag": 0,
    "order": False,
    "attributes": {},
}
_MAPPING = {
    "topic": "Hostile",
    "bname": "broker-a",
    "epoch": 1,
    "totalQueues": 2,
    "scope": "__global__",
    "dirty": False,
    "currIdMap": {},
    "hostedQueues": {
        "0": [
            {
                "gen": 0,
                "queueId": 0,
                "bname": "broker-b",
                "logicOffset": 0,
                "startOffset": 0,
                "endOffset": -1,
                "timeOfStart": -1,
                "timeOfEnd": -1,
            },
            {"gen": 1, "queueId": 0, "bname": "broker-a", "logicOffset": -1},
        ]
    },
}
_VERSION = {"counter": 1, "stateVersion": 0, "timestamp": 1_700_000_000_000}
_REGISTRATION = {
    "filterServerList": [],
    "topicConfigSerializeWrapper": {
        "dataVersion": _VERSION,
        "topicConfigTable": {"Hostile": _TOPIC, "Hostile3": _TOPIC},
        "topicQueueMappingInfoMap": {"Hostile": {"topic": "Hostile", "bname": "b"}},
    },
}
_ROUTE = {
    "brokerDatas": [{"brokerAddrs": {"0": "127.0.0.1:1"}, "brokerName": "hostile", "cluster": "c"}],
    "queueDatas": [{"brokerName": "hostile", "perm": 6, "readQueueNums": 1, "writeQueueNums": 1}],
}
_CHECK = {
    "group": "hostile",
    "subscriptionData": {"topic": "Hostile", "subString": "a = 1", "expressionType": "SQL92"},
}
_QUESTION = {
    "topic": "Hostile",
    "consumerGroup": "hostile",
    "clientId": "hostile",
    "strategyName": "AVG",
    "messageModel": "CLUSTERING",
}
_MODE = {"topic": "Hostile", "consumerGroup": "hostile", "mode": "POP", "popShareQueueNum": 1}
_ACKS = {
    "brokerName": "b",
    "acks": [
        {
            "c": "hostile",
            "t": "Hostile",
            "r": "0",
            "so": 0,
            "q": 0,
            "rq": 1,
            "pt": 1_700_000_000_000,
            "it": 1_000,
            "b": "AQ==",
        }
    ],
}

_CODE = RequestCode
BODIES: Mapping[int, object] = {
    _CODE.HEART_BEAT: _HEARTBEAT,
    _CODE.UPDATE_AND_CREATE_STATIC_TOPIC: _MAPPING,
    _CODE.LOCK_BATCH_MQ: _LOCK,
    _CODE.UNLOCK_BATCH_MQ: _LOCK,
    _CODE.CHECK_CLIENT_CONFIG: _CHECK,
    _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: _GROUP,
    _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: {"groupConfigList": [_GROUP]},
    _CODE.UPDATE_AND_CREATE_TOPIC_LIST: {"topicConfigList": [_TOPIC]},
    _CODE.REGISTER_BROKER: _REGISTRATION,
    _CODE.QUERY_DATA_VERSION: _VERSION,
    _CODE.REGISTER_TOPIC_IN_NAMESRV: _ROUTE,
    _CODE.QUERY_ASSIGNMENT: _QUESTION,
    _CODE.SET_MESSAGE_REQUEST_MODE: _MODE,
    _CODE.BATCH_ACK_MESSAGE: _ACKS,
}

GARBAGE_BODIES = (
    b"",
    b"\0",
    b"\xff\xfe\x00\xd8" * 100,
    b"x" * 100_000,
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"[" + b"0," * 200_000 + b"0]",
    b'{"a":1,"a":2}',
    b"{" + b",".join(b'"k%d":{}' % n for n in range(20_000)) + b"}",
    b"null",
    b"1e400",
    b"[]",
    b"{}",
    b'"\\ud800"',
    '{"clientID":"é"}'.encode("utf-16"),
    b"{1:{2:3},{}:4}",
    b"a=b\nbrokerPermission",
    b"\\u000",
    zlib.compress(bytes(64 << 20), 9),
    zlib.compress(b"\x7f\xff\xff\xff" * 10),
    b"\x7f\xff\xff\xff" * 20,
)

SPOILED: tuple[object, ...] = (
    None,
    -1,
    2**31,
    2**63 - 1,
    1.5,
    True,
    "",
    "x",
    "../..",
    "a\0\x01b",
    "日🐝\u2028",
    LONG,
    [],
    [[]],
    ["x"] * 2000,
    {},
    {"x": {"x": 1}},
)


class Case(NamedTuple):
    code: int
    what: str
    fields: Mapping[str, str]
    body: bytes


def served_by_broker() -> dict[int, list[str]]:
    """Request codes, and the fields that each asks for."""
    kit = BrokerKit()
    return _served(lambda command: kit.broker.on_command(CLIENT, command, kit.clock.now()))


def served_by_nameserver() -> dict[int, list[str]]:
    kit = NameServerKit()
    return _served(lambda command: kit.service.on_command(CLIENT, command, kit.clock.now()))


class _Noted(dict[str, str]):
    """Fields that are all there, and note who was asked for."""

    def __init__(self) -> None:
        super().__init__(GOOD)
        self.names: dict[str, None] = {}

    def get(self, name: str, default: object = None) -> str:
        self.names[name] = None
        return GOOD.get(name, "1")

    def __contains__(self, name: object) -> bool:
        self.names[str(name)] = None
        return True


def _served(tell: Callable[[RemotingCommand], object]) -> dict[int, list[str]]:
    found = {}
    for code in RequestCode:
        noted = _Noted()
        body = json.dumps(BODIES.get(code, {})).encode()
        effects = tell(RemotingCommand(code, ext_fields=noted, body=body))
        assert isinstance(effects, list)
        codes = [effect.command.code for effect in effects if hasattr(effect, "command")]
        if ResponseCode.REQUEST_CODE_NOT_SUPPORTED not in codes:
            found[int(code)] = list(noted.names)
    return found


def good_fields(names: list[str]) -> dict[str, str]:
    return {name: GOOD.get(name, "1") for name in names}


def field_cases(code: int, names: list[str]) -> Iterator[Case]:
    """Every field missing and with every text; all of them at once; some that nobody asked for."""
    good = good_fields(names)
    body = json.dumps(BODIES[code]).encode() if code in BODIES else b""
    yield Case(code, "as it should be", good, body)
    yield Case(code, "no fields", {}, body)
    yield Case(code, "more fields", good | {f"unknown{n}": LONG[:100] for n in range(90)}, body)
    for name in names:
        without = {other: text for other, text in good.items() if other != name}
        yield Case(code, f"without {name}", without, body)
        for text in TEXTS:
            yield Case(code, f"{name}={text[:20]!r}", good | {name: text}, body)
    for text in TEXTS:
        if len(names) * len(text) < 50_000:
            yield Case(code, f"all {text[:20]!r}", dict.fromkeys(names, text), body)


def body_cases(code: int, names: list[str]) -> Iterator[Case]:
    """Every body that is none, and the good one with every part spoiled."""
    good = good_fields(names)
    for number, body in enumerate(GARBAGE_BODIES):
        yield Case(code, f"garbage {number}", good, body)
        if "compressed" in names:
            yield Case(code, f"packed garbage {number}", good | {"compressed": "true"}, body)
    if code in BODIES:
        for what, value in spoiled(BODIES[code]):
            yield Case(code, f"body {what}", good, json.dumps(value, allow_nan=True).encode())


def spoiled(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The value with one part of it missing or replaced, for every part and every replacement."""
    if isinstance(value, dict):
        for name, part in value.items():
            where = f"{path}.{name}"
            yield f"{where} gone", {k: v for k, v in value.items() if k != name}
            for what, bad in (*_replaced(where), *spoiled(part, where)):
                yield what, {**value, name: bad}
    elif isinstance(value, list):
        for position, part in enumerate(value):
            where = f"{path}[{position}]"
            for what, bad in (*_replaced(where), *spoiled(part, where)):
                yield what, [*value[:position], bad, *value[position + 1 :]]


def _replaced(where: str) -> Iterator[tuple[str, object]]:
    for bad in SPOILED:
        yield f"{where} = {bad!r:.20}", bad
