"""The body of GET_BROKER_HA_STATUS, Java's HARuntimeInfo ⇄ the replica status of a broker.

    {"haClientRuntimeInfo":{"lastReadTimestamp":0,…},          of a slave; zeros of a master
     "haConnectionInfo":[{"addr":"10.0.0.2:41234","diff":0,"inSync":true,"slaveAckOffset":510,
                          "transferFromWhere":510,"transferredByteInSecond":0}],
     "inSyncSlaveNums":1,"master":true,"masterCommitLogMaxOffset":510}

Members that RocketMQ does not have are `lagMs`, `why`, `state`, `lagBytes`, `flushedOffset`, `link`
and `copiesWanted`. Its tools ignore them, and a master without slaves writes none of them.
"""

from aerobee.model.replica_status import (
    UNKNOWN,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

_NO_MASTER: dict[str, Value] = {
    "lastReadTimestamp": 0,
    "lastWriteTimestamp": 0,
    "masterFlushOffset": 0,
    "maxOffset": 0,
    "transferredByteInSecond": 0,
}


def encode_ha_status(status: ReplicaStatus) -> bytes:
    if isinstance(status, SlaveStatus):
        return _body(_slave_json(status), [], 0, is_master=False, end_offset=0, copies_wanted=1)
    return _body(
        _NO_MASTER,
        [_replica_json(replica) for replica in status.replicas],
        status.in_sync,
        is_master=True,
        end_offset=status.end_offset,
        copies_wanted=status.copies_wanted,
    )


def decode_ha_status(body: bytes) -> ReplicaStatus:
    members = Members(parse(body), "the state of replication")
    if not members.is_true("master"):
        return _slave_from(members.object("haClientRuntimeInfo"))
    return MasterStatus(
        members.int64("masterCommitLogMaxOffset", 0),
        members.int32("copiesWanted", 1),
        [_replica_from(Members(row, "a replica")) for row in members.array("haConnectionInfo")],
    )


def _body(
    followed: dict[str, Value],
    replicas: list[Value],
    in_sync: int,
    *,
    is_master: bool,
    end_offset: int,
    copies_wanted: int,
) -> bytes:
    wanted: dict[str, Value] = {"copiesWanted": copies_wanted} if copies_wanted > 1 else {}
    return write_compact(
        {
            **wanted,
            "haClientRuntimeInfo": followed,
            "haConnectionInfo": replicas,
            "inSyncSlaveNums": in_sync,
            "master": is_master,
            "masterCommitLogMaxOffset": end_offset,
        }
    )


def _replica_json(replica: ReplicaLag) -> Value:
    found: dict[str, Value] = {
        "addr": replica.address,
        "diff": replica.lag_bytes,
        "inSync": replica.is_in_sync,
    }
    if replica.lag_ms != UNKNOWN:
        found["lagMs"] = replica.lag_ms
    found["slaveAckOffset"] = replica.ack_offset
    found["transferFromWhere"] = replica.transfer_from
    found["transferredByteInSecond"] = int(replica.bytes_per_second)
    if replica.why:
        found["why"] = replica.why
    return found


def _replica_from(members: Members) -> ReplicaLag:
    return ReplicaLag(
        address=members.text("addr", ""),
        ack_offset=members.int64("slaveAckOffset", 0),
        lag_bytes=members.int64("diff", 0),
        lag_ms=members.int64("lagMs", UNKNOWN),
        is_in_sync=members.is_true("inSync"),
        why=members.text("why", ""),
        bytes_per_second=float(members.int64("transferredByteInSecond", 0)),
        transfer_from=members.int64("transferFromWhere", 0),
    )


def _slave_json(status: SlaveStatus) -> dict[str, Value]:
    found: dict[str, Value] = {
        "flushedOffset": status.flushed_offset,
        "lagBytes": status.lag_bytes,
        "lagMs": status.lag_ms,
        "lastReadTimestamp": status.last_read_ms,
        "lastWriteTimestamp": status.last_write_ms,
        "link": status.link,
        "masterAddr": status.master,
        "masterFlushOffset": status.master_offset,
        "maxOffset": status.end_offset,
        "state": status.state,
        "transferredByteInSecond": int(status.bytes_per_second),
    }
    if status.why:
        found["why"] = status.why
    return found


def _slave_from(members: Members) -> SlaveStatus:
    return SlaveStatus(
        master=members.text("masterAddr", ""),
        state=members.text("state", ""),
        end_offset=members.int64("maxOffset", 0),
        flushed_offset=members.int64("flushedOffset", UNKNOWN),
        master_offset=members.int64("masterFlushOffset", 0),
        lag_bytes=members.int64("lagBytes", UNKNOWN),
        lag_ms=members.int64("lagMs", UNKNOWN),
        why=members.text("why", ""),
        last_read_ms=members.int64("lastReadTimestamp", 0),
        last_write_ms=members.int64("lastWriteTimestamp", 0),
        bytes_per_second=float(members.int64("transferredByteInSecond", 0)),
        link=members.text("link", ""),
    )
