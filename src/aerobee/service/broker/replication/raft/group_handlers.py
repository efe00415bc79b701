"""Handlers of requests about the group of a member: ELECT_MASTER (1002), GET_BROKER_EPOCH_CACHE
(1007), CHANGE_BROKER_ROLE (28008), CHANGE_GROUP_MEMBERS (28011), LIST_GROUP_MEMBERS (28012).

RocketMQ's tools ask a controller to elect a master; here the leader of the group itself is asked,
by any of its members, and hands over. The terms in the log are those of the table of epochs.
"""

import logging

from aerobee.model.route import BrokerData
from aerobee.protocol.bodies.epoch_cache import EpochCache, EpochEntry, encode_epoch_cache
from aerobee.protocol.bodies.group_members import encode_group_members
from aerobee.protocol.bodies.topic_route import encode_elected_group
from aerobee.protocol.headers.replication import (
    ChangeMembersHeader,
    ChangeRoleHeader,
    ElectedMasterHeader,
    ElectMasterHeader,
)
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.raft.node import Node
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.raft.member_changes import (
    ChangeRefusal,
    find_refusal,
    read_change,
)
from aerobee.service.broker.replication.raft.preferred_leader import find_successor
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

ANY = -1
"""The broker id of an election whose winner does not matter."""


_LATER = ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED
_NEVER = ResponseCode.CONTROLLER_INVALID_REQUEST

_log = logging.getLogger(__name__)


class RaftGroupHandlers:
    def __init__(self, identity: BrokerIdentity, side: RaftSide) -> None:
        self._identity = identity
        self._side = side

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.CONTROLLER_ELECT_MASTER, ElectMasterHeader, self._elect, lane),
            row(code.GET_BROKER_EPOCH_CACHE, NoHeader, self._epochs, lane),
            row(code.CHANGE_BROKER_ROLE, ChangeRoleHeader, self._change_role, lane),
            row(code.CHANGE_GROUP_MEMBERS, ChangeMembersHeader, self._change_members, lane),
            row(code.LIST_GROUP_MEMBERS, NoHeader, self._list_members, lane),
        ]

    def _elect(self, request: Request, header: ElectMasterHeader) -> Answer:
        """Hand leadership to the member with this broker id, or to the one that is nearest. The
        answer goes out before the hand-over."""
        side, node = self._side, self._side.node
        if header.broker_id == ANY:
            target = find_successor(node, request.now.monotonic_ms)
            if target is None:
                return _refused("no other member answers and has nearly everything")
        else:
            target = header.broker_id - 1
        if target != node.node:
            now_ms = request.now.monotonic_ms
            refusal = side.order(lambda one: one.transfer(target, now_ms), request.now)
            if refusal:
                return _refused(refusal)
        who = self._identity
        brokers = {one.node + 1: one.broker for one in side.group_members(request.now).members}
        told = ElectedMasterHeader(target + 1, brokers.get(target + 1, ""), node.term, node.term)
        group = encode_elected_group(BrokerData(who.cluster, who.name, brokers))
        return Answer(fields=write_header(told), body=group)

    def _epochs(self, request: Request, header: NoHeader) -> Answer:
        who = self._identity
        end = self._side.node.log.end
        cache = EpochCache(who.cluster, who.name, who.broker_id, _terms(self._side.node), end)
        return Answer(body=encode_epoch_cache(cache))

    def _change_role(self, request: Request, header: ChangeRoleHeader) -> Answer:
        return Answer(
            ResponseCode.INVALID_PARAMETER,
            "this broker is a member of a Raft group: its members elect their leader, see"
            " `aerobee broker transfer`",
        )

    def _change_members(self, request: Request, header: ChangeMembersHeader) -> Answer:
        """Make one change. The answer goes out when it is in the leader's log: whether a majority
        has it, LIST_GROUP_MEMBERS tells."""
        try:
            change = read_change(header)
        except ValueError as error:
            return Answer(ResponseCode.INVALID_PARAMETER, str(error))
        side, now = self._side, request.now
        refusal = find_refusal(side.node, change, now.monotonic_ms)
        if refusal is None:
            why = side.order(lambda one: one.change_members(change), now)
            refusal = ChangeRefusal(why, is_passing=True) if why else None
        if refusal is None:
            _log.warning("the members of the group change: %s", change)
            return Answer()
        return Answer(_LATER if refusal.is_passing else _NEVER, refusal.why)

    def _list_members(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=encode_group_members(self._side.group_members(request.now)))


def _terms(node: Node) -> list[EpochEntry]:
    """The terms of the log, each once: an epoch may also begin with a change of members."""
    found: list[EpochEntry] = []
    for epoch in node.log.epochs.entries:
        if found and found[-1].epoch == epoch.term:
            continue
        if found:
            found[-1] = found[-1]._replace(end_offset=epoch.start)
        found.append(EpochEntry(epoch.term, epoch.start, node.log.end))
    return [one for one in found if one.end_offset > one.start_offset]


def _refused(why: str) -> Answer:
    return Answer(ResponseCode.CONTROLLER_ELECT_MASTER_FAILED, why)
