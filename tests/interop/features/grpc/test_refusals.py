"""Apache's proxy refuses calls of gRPC as the vectors say: they are its own words.

RECORD_REFUSALS=1   writes the vectors anew
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.grpc_caller import GrpcCaller, announce
from tests.grpc_refusals import (
    CALLS,
    CONSUMER,
    GROUP,
    PRODUCER,
    TOPICS,
    Call,
    consumer_settings,
    producer_settings,
    told,
)
from tests.interop.apache import install, missing
from tests.interop.features.conftest import check_tools
from tests.interop.features.ground import Ground
from tests.interop.features.servers import ApacheServer
from tests.vectors.test_grpc_refusals import RECORDED, same_words

ANSWER_SECONDS_MAX = 40.0


def answered(port: int, call: Call) -> dict[str, Any]:
    with GrpcCaller(port, call.client, x_mq_client_version=call.version) as caller:
        if call.client in (PRODUCER, CONSUMER):
            announce(caller, _SETTINGS[call.client])
        outcome = caller.call(call.method, call.request, call.timeout_ms)
    return told(outcome.messages, outcome.status, outcome.reason)


_SETTINGS = {PRODUCER: producer_settings(), CONSUMER: consumer_settings()}


@pytest.mark.java
def test_apaches_proxy_refuses_what_the_vectors_say(tmp_path: Path) -> None:
    check_tools("apache", missing())
    with ApacheServer(tmp_path, install()) as apache:
        ground = Ground(apache)
        for topic, kind in TOPICS.items():
            ground.create_topic(topic, kind=kind)
        ground.create_group(GROUP, retries=16)
        port = int(apache.grpc_address().rpartition(":")[2])
        found = {name: answered(port, call) for name, call in CALLS.items()}
    if os.environ.get("RECORD_REFUSALS"):
        RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    recorded = json.loads(RECORDED.read_text())
    for name, answer in found.items():
        assert same_words(answer, recorded[name]), name
