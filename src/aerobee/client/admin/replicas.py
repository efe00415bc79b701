"""`ReplicaAdmin` shows and changes masters and slaves: their status, their members, their roles.

A slave is asked by its address: names of brokers and clusters stand for masters.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aerobee.client.admin.brokers import settings_in
from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.raft_members import RaftMemberAdmin
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.errors import AerobeeError, NotFound, RemoteAnswer
from aerobee.model.replica_status import ReplicaStatus
from aerobee.model.route import BrokerData
from aerobee.protocol.bodies.epoch_cache import EpochCache, decode_epoch_cache
from aerobee.protocol.bodies.ha_status import decode_ha_status
from aerobee.protocol.bodies.sync_state import (
    ReplicasInfo,
    decode_sync_state_data,
    encode_broker_names,
)
from aerobee.protocol.bodies.topic_route import decode_elected_group, decode_member_group
from aerobee.protocol.headers.controller import ControllerMetadataHeader
from aerobee.protocol.headers.replication import (
    ChangedRoleHeader,
    ChangeRoleHeader,
    ElectedMasterHeader,
    ElectMasterHeader,
    ExchangeHaHeader,
    MemberGroupHeader,
    ResetFlushOffsetHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.request_codes import RequestCode


class ElectedMaster(NamedTuple):
    """The outcome of an election."""

    header: ElectedMasterHeader
    brokers: Mapping[int, str]
    """The addresses of all brokers of the name, by broker id."""


class ReplicaAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out
        self.raft = RaftMemberAdmin(fan_out)
        """The members of Raft groups."""

    # State.

    async def status(self, *, on: Where = None) -> dict[str, ReplicaStatus]:
        """The replication of brokers, as each of them sees it. A slave is named by its address."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_BROKER_HA_STATUS)
        return {name: decode_ha_status(bytes(one.body)) for name, one in answers.items()}

    async def groups(self, *, on: str | None = None) -> list[ReplicaGroup]:
        """Master and slaves of every broker name, of one name, or of one cluster, by name. Every
        one is asked for its status; one that does not answer is there without it.
        """
        info = await self._fan_out.cluster()
        brokers = [one for one in info.brokers if on in (None, one.name, one.cluster)]
        if on is not None and not brokers:
            there = ", ".join(sorted(one.name for one in info.brokers)) or "none"
            raise NotFound(f"there is no broker or cluster {on!r}", hint=f"there are: {there}")
        found = await asyncio.gather(*map(self._group, brokers))
        return sorted(found, key=lambda group: group.name)

    async def group(self, name: str) -> ReplicaGroup:
        """Master and slaves of one broker name."""
        info = await self._fan_out.cluster()
        for broker in info.brokers:
            if broker.name == name:
                return await self._group(broker)
        there = ", ".join(sorted(one.name for one in info.brokers)) or "none"
        raise NotFound(f"there is no broker {name!r}", hint=f"there are: {there}")

    async def member(self, address: str, broker_id: int = 0) -> ReplicaMember:
        """One broker, whether or not a name server has it."""
        try:
            answer = await self._fan_out.broker(address, RequestCode.GET_BROKER_HA_STATUS)
            status = decode_ha_status(bytes(answer.body))
        except AerobeeError as error:
            return ReplicaMember(broker_id, address, problem=error.message)
        settings: dict[str, str] = {}
        with contextlib.suppress(AerobeeError):  # its role is shown by its status, too
            told = await self._fan_out.broker(address, RequestCode.GET_BROKER_CONFIG)
            settings = settings_in(bytes(told.body))
        return ReplicaMember(broker_id, address, status, settings)

    async def members(self, cluster: str, name: str) -> BrokerData:
        """Master and slaves of one broker name, as a name server knows them. RocketMQ has this
        since 5.0.
        """
        answer = await self._fan_out.name_server(
            RequestCode.GET_BROKER_MEMBER_GROUP, write_header(MemberGroupHeader(cluster, name))
        )
        return decode_member_group(bytes(answer.body))

    async def ha_address(self, address: str) -> str:
        """Where a master serves its log to slaves; empty: it does not say."""
        try:
            answer = await self._fan_out.broker(
                address, RequestCode.EXCHANGE_BROKER_HA_INFO, ExchangeHaHeader()
            )
        except RemoteAnswer:
            return ""
        return read_header(ExchangeHaHeader, answer.ext_fields).master_ha_address or ""

    async def epochs(self, address: str) -> EpochCache:
        """The masters' terms in a broker's log; only brokers with a controller have them."""
        answer = await self._fan_out.broker(address, RequestCode.GET_BROKER_EPOCH_CACHE)
        return decode_epoch_cache(bytes(answer.body))

    async def controller(self, address: str) -> ControllerMetadataHeader:
        """The group that elects masters, as the controller at this address knows it. A Raft group
        is its own: any of its brokers may be asked.
        """
        code = RequestCode.CONTROLLER_GET_METADATA_INFO
        answer = await self._fan_out.broker(address, code)
        return read_header(ControllerMetadataHeader, answer.ext_fields)

    async def sync_state(self, address: str, names: Iterable[str]) -> dict[str, ReplicasInfo]:
        """The replicas that have everything, of these broker names, as the controller at this
        address knows them; names that it does not know are left out.
        """
        code, body = RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, encode_broker_names(names)
        answer = await self._fan_out.broker(address, code, body=body)
        return decode_sync_state_data(bytes(answer.body))

    # Changes.

    async def change_role(
        self,
        address: str,
        role: str,
        broker_id: int,
        *,
        master_address: str = "",
        master_ha_address: str = "",
        above_term: int = 0,
        is_forced: bool = False,
    ) -> ChangedRoleHeader:
        """Give a broker another role: a master has id 0, a slave another. A slave follows the
        master that name servers tell, or, for good, the one at `master_ha_address`. A master begins
        a term above `above_term` (`NameServerAdmin.newest_term`). Only Aerobee's brokers know the
        request.
        """
        header = ChangeRoleHeader(
            role,
            broker_id,
            master_address or None,
            master_ha_address or None,
            is_forced,
            above_term,
        )
        answer = await self._fan_out.broker(address, RequestCode.CHANGE_BROKER_ROLE, header)
        return read_header(ChangedRoleHeader, answer.ext_fields)

    async def elect(self, address: str, broker_id: int = -1) -> ElectedMaster:
        """Have another member of a Raft group lead: the one with this broker id, or, with -1, the
        one that can take over soonest. Any member may be asked. The answer names it; it leads some
        milliseconds later.
        """
        header = ElectMasterHeader(broker_id, designate_elect=broker_id >= 0)
        answer = await self._fan_out.broker(address, RequestCode.CONTROLLER_ELECT_MASTER, header)
        body = bytes(answer.body)
        members = decode_elected_group(body).addresses if body else {}
        return ElectedMaster(read_header(ElectedMasterHeader, answer.ext_fields), members)

    async def reset_flush_offset(self, offset: int, *, on: Where) -> list[str]:
        """Set the master flush offset that slaves remember. RocketMQ refuses data below it."""
        code, header = RequestCode.RESET_MASTER_FLUSH_OFFSET, ResetFlushOffsetHeader(offset)
        return list(await self._fan_out.on_masters(on, code, header))

    async def _group(self, broker: BrokerData) -> ReplicaGroup:
        members = await asyncio.gather(
            *(self.member(address, number) for number, address in sorted(broker.addresses.items()))
        )
        return ReplicaGroup(broker.cluster, broker.name, tuple(members))
