"""Handlers of requests to RocketMQ's controller that have a meaning in a group: its metadata
(1005), the sync state set of a broker name (1004, 1006). Others are refused, with what to do
instead.

A group is its own controller: the leader elects nobody, it was elected, and its followers are in
the sync state set as long as they answer and their logs are copies of its own. Broker ids are those
of ELECT_MASTER: the number of the member plus one, also of the leader, which is registered with 0.
"""

from collections.abc import Mapping

from aerobee.model.replica_status import NO_NODE, GroupMember, GroupMembers
from aerobee.protocol.bodies.sync_state import (
    ReplicaIdentity,
    ReplicasInfo,
    decode_broker_names,
    encode_sync_state_data,
    encode_sync_state_set,
)
from aerobee.protocol.headers.controller import (
    ControllerMetadataHeader,
    ReplicaInfoAnswerHeader,
    ReplicaInfoHeader,
)
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

_CODE = RequestCode
_REFUSED: Mapping[int, str] = {
    _CODE.CONTROLLER_ALTER_SYNC_STATE_SET: "a majority of the members decides what is committed, no"
    " sync state set: see `aerobee broker members`",
    _CODE.CONTROLLER_REGISTER_BROKER: "brokers join by `aerobee broker members add`",
    _CODE.CONTROLLER_GET_NEXT_BROKER_ID: "the number of a member is that of dLegerSelfId",
    _CODE.CONTROLLER_APPLY_BROKER_ID: "the number of a member is that of dLegerSelfId",
    _CODE.UPDATE_CONTROLLER_CONFIG: "members have a broker's settings: `aerobee broker config set`",
    _CODE.GET_CONTROLLER_CONFIG: "members have a broker's settings: `aerobee broker config get`",
    _CODE.CLEAN_BROKER_DATA: "members leave by `aerobee broker members remove`",
}


class ControllerHandlers:
    def __init__(self, identity: BrokerIdentity, side: RaftSide) -> None:
        self._identity = identity
        self._side = side

    def rows(self) -> list[Row]:
        lane = Lane.ADMIN
        refused = [row(code, NoHeader, self._refuse, lane) for code in _CODE if code in _REFUSED]
        return [
            row(_CODE.CONTROLLER_GET_METADATA_INFO, NoHeader, self._metadata, lane),
            row(_CODE.CONTROLLER_GET_SYNC_STATE_DATA, NoHeader, self._sync_state, lane),
            row(_CODE.CONTROLLER_GET_REPLICA_INFO, ReplicaInfoHeader, self._replica_info, lane),
            *refused,
        ]

    def _metadata(self, request: Request, header: NoHeader) -> Answer:
        """Any member tells who leads: tools send the rest there."""
        group = self._side.group_members(request.now)
        leader = group.find(group.leader)
        told = ControllerMetadataHeader(
            group.group,
            "" if leader is None else leader.name,
            "" if leader is None else leader.broker,
            group.is_of_leader,
            "".join(f"{one.name}:{one.broker or one.address};" for one in group.members),
        )
        return Answer(fields=write_header(told))

    def _sync_state(self, request: Request, header: NoHeader) -> Answer:
        names = decode_broker_names(request.body)
        group = self._side.group_members(request.now)
        own = self._identity.name
        table = {own: self._info(group)} if own in names else {}
        return Answer(body=encode_sync_state_data(table))

    def _replica_info(self, request: Request, header: ReplicaInfoHeader) -> Answer:
        own = self._identity.name
        if header.broker_name != own:
            return Answer(
                ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST,
                f"this is the group of {own}: ask a broker of {header.broker_name}",
            )
        info = self._info(self._side.group_members(request.now))
        told = ReplicaInfoAnswerHeader(info.master_id, info.master_address, info.master_epoch)
        ids = (one.broker_id for one in info.in_sync)
        return Answer(fields=write_header(told), body=encode_sync_state_set(ids, info.set_epoch))

    def _info(self, group: GroupMembers) -> ReplicasInfo:
        leader = group.find(group.leader)
        counted = [one for one in group.members if one.is_voter and not one.why]
        others = [one for one in group.members if one not in counted]
        return ReplicasInfo(
            NO_NODE if leader is None else leader.node + 1,
            "" if leader is None else leader.broker,
            group.term,
            group.term,
            [self._identity_of(one) for one in counted],
            [self._identity_of(one) for one in others],
        )

    def _identity_of(self, one: GroupMember) -> ReplicaIdentity:
        address, is_alive = one.broker or one.address, bool(one.is_answering)
        return ReplicaIdentity(self._identity.name, one.node + 1, address, is_alive)

    def _refuse(self, request: Request, header: NoHeader) -> Answer:
        why = _REFUSED[request.command.code]
        remark = f"this broker is a member of a Raft group, without a controller: {why}"
        return Answer(ResponseCode.CONTROLLER_INVALID_REQUEST, remark)
