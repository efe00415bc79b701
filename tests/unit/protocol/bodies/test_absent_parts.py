import json

from aerobee.protocol.bodies.absent_parts import (
    Replica,
    Replication,
    decode_replication,
    encode_lone_master,
    encode_no_cold_limits,
    encode_no_light_topics,
)
from tests.captured import captured


def test_a_master_without_slaves_is_shown_as_apache_shows_one() -> None:
    (recorded, *_) = captured("GET_BROKER_HA_STATUS", "response")
    assert encode_lone_master(0) == bytes(recorded.body)
    assert json.loads(encode_lone_master(510))["masterCommitLogMaxOffset"] == 510


def test_no_limits_are_what_apache_shows_without_its_thresholds() -> None:
    (recorded, *_) = captured("GET_COLD_DATA_FLOW_CTR_INFO", "response")
    apaches = json.loads(bytes(recorded.body))
    ours = json.loads(encode_no_cold_limits())
    assert ours == {name: apaches[name] for name in ours}


def test_light_topics_have_apaches_members() -> None:
    (recorded, *_) = captured("GET_BROKER_LITE_INFO", "response")
    apaches = json.loads(bytes(recorded.body))
    ours = json.loads(encode_no_light_topics(9, 2))
    assert list(ours) == list(apaches)
    assert (ours["cqTableSize"], ours["offsetTableSize"]) == (9, 2)
    assert (ours["groupMeta"], ours["topicMeta"], ours["currentLmqNum"]) == ({}, {}, 0)


def test_replication_is_read_where_there_are_replicas_too() -> None:
    assert decode_replication(encode_lone_master(510)) == Replication(True, 510, 0, [])
    body = (
        b'{"haConnectionInfo":[{"addr":"10.0.0.2:1","diff":7,"inSync":true,"slaveAckOffset":503,'
        b'"transferFromWhere":503,"transferredByteInSecond":1}],"inSyncSlaveNums":1,"master":true,'
        b'"masterCommitLogMaxOffset":510}'
    )
    assert decode_replication(body) == Replication(
        True, 510, 1, [Replica("10.0.0.2:1", 503, 7, True)]
    )
