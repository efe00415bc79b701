import json

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.bodies.sync_state import (
    ReplicaIdentity,
    ReplicasInfo,
    decode_broker_names,
    decode_sync_state_data,
    encode_broker_names,
    encode_sync_state_data,
    encode_sync_state_set,
)

HERE = ReplicaIdentity("b", 1, "h1:1", True)
THERE = ReplicaIdentity("b", 2, "h2:1", False)
INFO = ReplicasInfo(1, "h1:1", 3, 4, [HERE], [THERE])


def test_it_has_the_names_of_rocketmq() -> None:
    assert json.loads(encode_sync_state_data({"b": INFO}))["replicasInfoTable"] == {
        "b": {
            "masterBrokerId": 1,
            "masterAddress": "h1:1",
            "masterEpoch": 3,
            "syncStateSetEpoch": 4,
            "inSyncReplicas": [
                {"alive": True, "brokerAddress": "h1:1", "brokerId": 1, "brokerName": "b"}
            ],
            "notInSyncReplicas": [
                {"alive": False, "brokerAddress": "h2:1", "brokerId": 2, "brokerName": "b"}
            ],
        }
    }
    assert encode_sync_state_set([1, 2], 3) == b'{"syncStateSet":[1,2],"syncStateSetEpoch":3}'


def test_what_is_written_is_read_again() -> None:
    assert decode_sync_state_data(encode_sync_state_data({"b": INFO})) == {"b": INFO}
    assert decode_broker_names(encode_broker_names(["a", "b"])) == ["a", "b"]
    with pytest.raises(RemoteProtocolError):
        decode_sync_state_data(b'{"replicasInfoTable":{"b":{"inSyncReplicas":[1]}}}')


def test_names_are_an_array_of_text() -> None:
    assert decode_broker_names(b'["a","b"]') == ["a", "b"]
    for body in (b"", b"[]", b'{"a":1}', b'["a",1]'):
        with pytest.raises(RemoteProtocolError):
            decode_broker_names(body)
