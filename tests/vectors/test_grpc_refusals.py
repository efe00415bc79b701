"""Calls of gRPC that Apache's proxy refuses are refused here as there, but for what is listed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aerobee.protocol.grpc.calls import TelemetryCommand
from tests.grpc_kit import GrpcKit, typed
from tests.grpc_refusals import (
    CALLS,
    CONSUMER,
    PRODUCER,
    TOPICS,
    consumer_settings,
    producer_settings,
    told,
)

RECORDED = Path(__file__).parent / "grpc_refusals.json"
_NO_TOPIC = "The topic unknown not exist, apply first please!"
_NO_HANDLE = "receipt handle is illegal: 'nonsense'"
ON_PURPOSE: dict[str, list[Any]] = {
    "send: an unknown topic": [[40402, "the topic unknown does not exist: create it first"]],
    "receive: an unknown topic": [[40402, _NO_TOPIC]],
    "receive: an expression of separators": [[40010, "the expression '||' has no tag"]],
    "receive: no time to poll": [[40401, "no new message"]],
    "receive: no time to poll, an old client": [[40401, "no new message"]],
    "receive: no settings": [[40401, "no new message"]],
    "ack: a handle that is none": [[40013, _NO_HANDLE], [40013, _NO_HANDLE]],
    "change: a handle that is none": [[40013, _NO_HANDLE]],
    "bury: a handle that is none": [[40013, _NO_HANDLE]],
    "end: an unknown transaction": [
        [50001, "cannot found transaction data of ID: answer the check that follows"]
    ],
    "recall: a handle that is none": [
        [40300, "recall failed, operation is forbidden: set recallMessageEnable"]
    ],
}
"""What is answered otherwise here: see docs/grpc.md."""
REFUSED_SETTINGS = {
    "settings: of a producer, topic empty": 3,
    "settings: of a producer, topic spaced": 3,
    "settings: of a consumer, no tag": 3,
    "settings: of a consumer, empty SQL": 3,
}
"""Settings that Apache's proxy takes, though no call with them succeeds."""
APACHE: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text())


def same_words(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two answers are the same but for numbers in their words."""
    return _worded(one) == _worded(other)


def _worded(answer: dict[str, Any]) -> str:
    return re.sub(r"[0-9]{4,}", "N", json.dumps(answer["statuses"]))


@pytest.fixture(scope="module")
def kit() -> GrpcKit:
    kit = GrpcKit(*(typed(topic, kind) for topic, kind in TOPICS.items()))
    kit.begin("Telemetry", TelemetryCommand(settings=producer_settings()), PRODUCER)
    kit.begin("Telemetry", TelemetryCommand(settings=consumer_settings()), CONSUMER)
    kit.finish()
    return kit


def answered(kit: GrpcKit, name: str) -> dict[str, Any]:
    call = CALLS[name]
    version = {"x-mq-client-version": call.version}
    number = kit.begin(call.method, call.request, call.client, call.timeout_ms, metadata=version)
    kit.finish()
    if number not in kit.ended:
        kit.half_close(number)
    for _ in range(60):
        if number not in kit.ended:
            kit.run(500, 500)
    ended = kit.ended[number]
    return told(kit.responses(number), ended.status, ended.reason)


def expected(name: str) -> dict[str, Any]:
    """Apache's answer without classes of exceptions and addresses of pages, or ours, where it
    differs on purpose."""
    answer = APACHE[name]
    if name in ON_PURPOSE:
        return {"rpc": answer["rpc"], "statuses": ON_PURPOSE[name]}
    statuses = [[code, _plain(words)] for code, words in answer["statuses"]]
    if len(statuses) > 1:
        statuses[0] = statuses[1]  # of one entry
    return {"rpc": answer["rpc"], "statuses": statuses}


def _plain(words: str) -> str:
    words = words.removeprefix("org.apache.rocketmq.proxy.common.ProxyException: ")
    return words.removeprefix("CODE: 17  DESC: ").partition("\n")[0]


def test_every_refusal_is_on_record() -> None:
    assert list(APACHE) == list(CALLS)
    assert len(CALLS) > 140


@pytest.mark.parametrize("name", list(CALLS))
def test_a_call_that_apache_refuses_is_refused_in_its_words(kit: GrpcKit, name: str) -> None:
    ours, theirs = answered(kit, name), expected(name)
    if name.startswith("unserved") or name in REFUSED_SETTINGS:
        assert ours["rpc"][0] == REFUSED_SETTINGS.get(name, theirs["rpc"][0])
    elif name.startswith("settings"):
        # Where nothing is said of the kind, its words have no beginning.
        assert ours["rpc"][1].endswith(theirs["rpc"][1])
        assert ours["rpc"][0] == theirs["rpc"][0]
    else:
        assert ours == theirs
