import json

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.replica_status import (
    DIVERGED,
    FOLLOWING,
    UNKNOWN,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.protocol.bodies.ha_status import decode_ha_status, encode_ha_status
from tests.captured import captured

IN_SYNC = ReplicaLag("10.0.0.2:41234", 510, 0, 0, True, "", 2048.0, 510)
BEHIND = ReplicaLag("10.0.0.3:41235", 200, 310, 4_000, False, "310 bytes behind", 7.0, 240)
MASTER = MasterStatus(510, 2, [IN_SYNC, BEHIND])
SLAVE = SlaveStatus(
    "10.0.0.1:10912", FOLLOWING, 500, 480, 510, 10, 3, "", 1_700, 1_800, 64.0, "10.0.0.2:41234"
)


def test_a_master_without_slaves_is_shown_as_apache_shows_one() -> None:
    (recorded, *_) = captured("GET_BROKER_HA_STATUS", "response")
    assert encode_ha_status(MasterStatus(0, 1, [])) == bytes(recorded.body)
    assert decode_ha_status(bytes(recorded.body)) == MasterStatus(0, 1, [])


@pytest.mark.parametrize(
    "status",
    [
        MASTER,
        MasterStatus(7, 1, [BEHIND]),
        SLAVE,
        SLAVE._replace(state=DIVERGED, why="at 300", lag_bytes=UNKNOWN, lag_ms=UNKNOWN, link=""),
    ],
)
def test_a_status_is_read_as_it_was_written(status: ReplicaStatus) -> None:
    assert decode_ha_status(encode_ha_status(status)) == status


def test_rocketmqs_members_have_rocketmqs_names_and_order() -> None:
    shown = json.loads(encode_ha_status(MASTER))
    assert list(shown) == [
        "copiesWanted",
        "haClientRuntimeInfo",
        "haConnectionInfo",
        "inSyncSlaveNums",
        "master",
        "masterCommitLogMaxOffset",
    ]
    assert (shown["master"], shown["inSyncSlaveNums"]) == (True, 1)
    assert shown["masterCommitLogMaxOffset"] == 510
    assert shown["haConnectionInfo"][0] == {
        "addr": "10.0.0.2:41234",
        "diff": 0,
        "inSync": True,
        "lagMs": 0,
        "slaveAckOffset": 510,
        "transferFromWhere": 510,
        "transferredByteInSecond": 2048,
    }
    slave = json.loads(encode_ha_status(SLAVE))
    assert (slave["master"], slave["haConnectionInfo"]) == (False, [])
    followed = slave["haClientRuntimeInfo"]
    assert list(followed) == sorted(followed)
    assert (followed["masterAddr"], followed["maxOffset"]) == ("10.0.0.1:10912", 500)
    assert (followed["lastReadTimestamp"], followed["lastWriteTimestamp"]) == (1_700, 1_800)
    assert (followed["masterFlushOffset"], followed["transferredByteInSecond"]) == (510, 64)


def test_what_rocketmqs_brokers_do_not_report_is_unknown() -> None:
    master = (
        b'{"haConnectionInfo":[{"addr":"10.0.0.2:1","diff":7,"inSync":true,"slaveAckOffset":503,'
        b'"transferFromWhere":503,"transferredByteInSecond":1}],"inSyncSlaveNums":1,"master":true,'
        b'"masterCommitLogMaxOffset":510}'
    )
    lag = ReplicaLag("10.0.0.2:1", 503, 7, UNKNOWN, True, "", 1.0, 503)
    assert decode_ha_status(master) == MasterStatus(510, 1, [lag])
    slave = (
        b'{"haClientRuntimeInfo":{"lastReadTimestamp":5,"lastWriteTimestamp":6,'
        b'"masterAddr":"10.0.0.1:10912","masterFlushOffset":0,"maxOffset":510,'
        b'"transferredByteInSecond":9},"haConnectionInfo":[],"inSyncSlaveNums":0,"master":false,'
        b'"masterCommitLogMaxOffset":0}'
    )
    assert decode_ha_status(slave) == SlaveStatus(
        "10.0.0.1:10912", "", 510, UNKNOWN, 0, UNKNOWN, UNKNOWN, "", 5, 6, 9.0
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"master":1}',
        b'{"master":true,"haConnectionInfo":[1]}',
        b'{"master":true,"haConnectionInfo":{}}',
        b'{"master":false,"haClientRuntimeInfo":{"maxOffset":"x"}}',
    ],
)
def test_a_body_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_ha_status(body)
