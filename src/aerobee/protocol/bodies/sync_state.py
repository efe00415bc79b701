"""Bodies of RocketMQ's controller: which replicas of a broker have everything.

GET_SYNC_STATE_DATA, an array of broker names:

    {"replicasInfoTable":{"broker-a":{"masterBrokerId":1,"masterAddress":"10.0.0.1:10911",
     "masterEpoch":3,"syncStateSetEpoch":3,"inSyncReplicas":[{"alive":true,
     "brokerAddress":"10.0.0.1:10911","brokerId":1,"brokerName":"broker-a"}],
     "notInSyncReplicas":[]}}}

GET_REPLICA_INFO: {"syncStateSet":[1,2],"syncStateSetEpoch":3}
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_compact


class ReplicaIdentity(NamedTuple):
    broker_name: str
    broker_id: int
    address: str
    is_alive: bool


class ReplicasInfo(NamedTuple):
    """The replicas of one broker name."""

    master_id: int
    master_address: str
    master_epoch: int
    set_epoch: int
    in_sync: Sequence[ReplicaIdentity]
    not_in_sync: Sequence[ReplicaIdentity]


def decode_broker_names(body: bytes) -> list[str]:
    """The names that are asked for. RemoteProtocolError: there are none."""
    names = parse(body) if body else []
    if not isinstance(names, list) or not names:
        raise RemoteProtocolError("no array of broker names")
    found = [name for name in names if isinstance(name, str)]
    if len(found) < len(names):
        raise RemoteProtocolError("a broker name that is no text")
    return found


def encode_broker_names(names: Iterable[str]) -> bytes:
    return write_compact(list(names))


def decode_sync_state_data(body: bytes) -> dict[str, ReplicasInfo]:
    """By broker name. RemoteProtocolError: the body is not valid."""
    table = Members(parse(body), "the sync state sets").object("replicasInfoTable")
    return {name: _info_from(row) for name, row in table.objects()}


def _info_from(row: Members) -> ReplicasInfo:
    return ReplicasInfo(
        row.int64("masterBrokerId", -1),
        row.text("masterAddress", ""),
        row.int32("masterEpoch", 0),
        row.int32("syncStateSetEpoch", 0),
        [_identity_from(one) for one in row.array("inSyncReplicas")],
        [_identity_from(one) for one in row.array("notInSyncReplicas")],
    )


def _identity_from(value: Parsed) -> ReplicaIdentity:
    one = Members(value, "a replica")
    return ReplicaIdentity(
        one.text("brokerName", ""),
        one.int64("brokerId", 0),
        one.text("brokerAddress", ""),
        one.is_true("alive"),
    )


def encode_sync_state_data(table: Mapping[str, ReplicasInfo]) -> bytes:
    return write_compact({"replicasInfoTable": {name: _row(one) for name, one in table.items()}})


def _row(one: ReplicasInfo) -> dict[str, Value]:
    return {
        "masterBrokerId": one.master_id,
        "masterAddress": one.master_address,
        "masterEpoch": one.master_epoch,
        "syncStateSetEpoch": one.set_epoch,
        "inSyncReplicas": [_identity(replica) for replica in one.in_sync],
        "notInSyncReplicas": [_identity(replica) for replica in one.not_in_sync],
    }


def _identity(one: ReplicaIdentity) -> dict[str, Value]:
    return {
        "alive": one.is_alive,
        "brokerAddress": one.address,
        "brokerId": one.broker_id,
        "brokerName": one.broker_name,
    }


def encode_sync_state_set(broker_ids: Iterable[int], epoch: int) -> bytes:
    return write_compact({"syncStateSet": list(broker_ids), "syncStateSetEpoch": epoch})
