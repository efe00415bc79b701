"""Masters and slaves by a script: a name server and brokers that tools can ask about replication.

They have a thread of their own, so that commands that wait can ask them. A broker answers with the
status that it was given, takes a change of its role, and stores nothing.
"""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from aerobee.model.replica_status import (
    FOLLOWING,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.model.route import BrokerData, ClusterInfo
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.epoch_cache import EpochCache, encode_epoch_cache
from aerobee.protocol.bodies.group_members import encode_group_members
from aerobee.protocol.bodies.ha_status import encode_ha_status
from aerobee.protocol.bodies.small_tables import encode_text_table
from aerobee.protocol.bodies.sync_state import (
    ReplicasInfo,
    decode_broker_names,
    encode_sync_state_data,
)
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.bodies.topic_route import (
    encode_cluster_info,
    encode_elected_group,
    encode_member_group,
)
from aerobee.protocol.headers.controller import ControllerMetadataHeader
from aerobee.protocol.headers.replication import (
    SLAVE,
    ChangedRoleHeader,
    ChangeMembersHeader,
    ChangeRoleHeader,
    ElectedMasterHeader,
    ElectMasterHeader,
    ExchangeHaHeader,
    KnownTermHeader,
    ResetFlushOffsetHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.java_properties import write_properties
from tests.group_script import GroupBook

CLUSTER, NAME = "DefaultCluster", "broker-a"


@dataclass(slots=True)
class Replica:
    """One broker of the script."""

    broker_id: int
    status: ReplicaStatus
    settings: dict[str, str] = field(default_factory=dict)
    is_silent: bool = False
    """Nobody is at its address."""
    is_registered: bool = True
    epochs: EpochCache | None = None
    ha_address: str = ""
    """Empty: it does not know the question."""
    address: str = ""
    changes: list[ChangeRoleHeader] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)
    elects: bool = False
    """It is a member of a Raft group, and hands over."""
    group: GroupBook | None = None
    """The members of its group; None: it is no member."""
    controller: ControllerMetadataHeader | None = None
    """What it says of itself as a controller; None: it is none."""
    sync_state: dict[str, ReplicasInfo] = field(default_factory=dict)


def lone_master(end: int = 510) -> Replica:
    return Replica(0, MasterStatus(end, 1, []), _settings("ASYNC_MASTER"))


def master(*replicas: ReplicaLag, end: int = 510, copies: int = 1, role: str = "") -> Replica:
    role = role or ("SYNC_MASTER" if copies > 1 else "ASYNC_MASTER")
    return Replica(0, MasterStatus(end, copies, replicas), _settings(role, copies))


def slave(
    broker_id: int, end: int = 510, *, link: str = "", state: str = FOLLOWING, why: str = ""
) -> Replica:
    status = SlaveStatus(
        "127.0.0.1:10912", state, end, end, 510, 510 - end, 0, why, 1_000, 2_000, 2048.0, link
    )
    return Replica(broker_id, status, _settings("SLAVE"))


def _settings(role: str, copies: int = 1) -> dict[str, str]:
    return {"brokerName": NAME, "brokerRole": role, "inSyncReplicas": str(copies)}


class ReplicaScript:
    """A name server, and the brokers of one name."""

    def __init__(self, *brokers: Replica) -> None:
        self.brokers = brokers
        self.name_server = ""
        self.term: int | None = None
        """What its name server tells of terms; None: nothing, as RocketMQ's."""
        self.version = DataVersion()
        """With which a master has registered."""
        self._is_ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._serving: list[asyncio.Task[None]] = []
        self._thread = threading.Thread(target=self._run)

    @contextlib.contextmanager
    def running(self) -> Iterator["ReplicaScript"]:
        self._thread.start()
        self._is_ready.wait()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve_all())
        self._loop.close()

    async def _serve_all(self) -> None:
        servers = []
        for broker in self.brokers:
            server, broker.address = await self._listen(broker)
            if broker.is_silent:
                server.close()
                await server.wait_closed()
            else:
                servers.append(server)
        server, self.name_server = await self._listen(None)
        self._is_ready.set()
        await self._end.wait()
        for one in (server, *servers):
            one.close()
            await one.wait_closed()
        # Clients are gone; a connection that is still closing would outlive its loop.
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _listen(self, broker: Replica | None) -> tuple[asyncio.Server, str]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            frames = FrameReader()
            while data := await reader.read(1 << 16):
                frames.receive(data)
                while frames.advance():
                    command = decode(frames)
                    answer = self._told(command) if broker is None else _answer(broker, command)
                    writer.writelines(encode(answer))
            writer.close()
            await writer.wait_closed()

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._serving.append(self._loop.create_task(serve(reader, writer)))

        server = await asyncio.start_server(begin, "127.0.0.1", 0)
        return server, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def _told(self, command: RemotingCommand) -> RemotingCommand:
        registered = {one.broker_id: one.address for one in self.brokers if one.is_registered}
        broker = BrokerData(CLUSTER, NAME, registered)
        if command.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            info = ClusterInfo((broker,) if registered else ())
            return reply_to(command, 0, body=encode_cluster_info(info))
        if command.code == RequestCode.GET_BROKER_MEMBER_GROUP:
            term = write_header(KnownTermHeader(self.term))
            return reply_to(command, 0, ext_fields=term, body=encode_member_group(broker))
        if command.code == RequestCode.QUERY_DATA_VERSION:
            assert command.ext_fields["brokerAddr"] == registered[0]
            return reply_to(command, 0, body=encode_data_version(self.version))
        return reply_to(command, 0)


def _answer(broker: Replica, command: RemotingCommand) -> RemotingCommand:
    code = command.code
    if code == RequestCode.GET_BROKER_HA_STATUS:
        return reply_to(command, 0, body=encode_ha_status(broker.status))
    if code == RequestCode.GET_BROKER_CONFIG:
        return reply_to(command, 0, body=write_properties(broker.settings).encode())
    if code == RequestCode.GET_BROKER_RUNTIME_INFO:
        return reply_to(command, 0, body=encode_text_table({"commitLogDiskRatio": "0.1"}))
    if code == RequestCode.GET_BROKER_EPOCH_CACHE and broker.epochs is not None:
        return reply_to(command, 0, body=encode_epoch_cache(broker.epochs))
    if code == RequestCode.EXCHANGE_BROKER_HA_INFO and broker.ha_address:
        told = ExchangeHaHeader(broker.ha_address, 0, broker.address)
        return reply_to(command, 0, ext_fields=write_header(told))
    if code == RequestCode.RESET_MASTER_FLUSH_OFFSET:
        header = read_header(ResetFlushOffsetHeader, command.ext_fields)
        broker.resets.append(header.master_flush_offset)
        return reply_to(command, 0)
    if code == RequestCode.CHANGE_BROKER_ROLE:
        wanted = read_header(ChangeRoleHeader, command.ext_fields)
        broker.changes.append(wanted)
        end = broker.status.end_offset
        if wanted.role == SLAVE:
            broker.status = SlaveStatus(wanted.master_address or "", FOLLOWING, end, end, end, 0, 0)
        else:
            broker.status = MasterStatus(end, 1, [])
        broker.broker_id = wanted.broker_id
        changed = ChangedRoleHeader(wanted.role, end)
        return reply_to(command, 0, ext_fields=write_header(changed))
    if broker.group is not None and code == RequestCode.LIST_GROUP_MEMBERS:
        return reply_to(command, 0, body=encode_group_members(broker.group.view()))
    if broker.group is not None and code == RequestCode.CHANGE_GROUP_MEMBERS:
        outcome, remark = broker.group.change(read_header(ChangeMembersHeader, command.ext_fields))
        return reply_to(command, outcome, remark=remark)
    if broker.controller is not None and code == RequestCode.CONTROLLER_GET_METADATA_INFO:
        return reply_to(command, 0, ext_fields=write_header(broker.controller))
    if code == RequestCode.CONTROLLER_GET_SYNC_STATE_DATA:
        names = decode_broker_names(bytes(command.body))
        asked = {name: one for name, one in broker.sync_state.items() if name in names}
        return reply_to(command, 0, body=encode_sync_state_data(asked))
    if code == RequestCode.CONTROLLER_ELECT_MASTER and (broker.elects or broker.group is not None):
        if broker.group is not None:
            broker.group.elect()
        wanted_id = read_header(ElectMasterHeader, command.ext_fields).broker_id
        elected = ElectedMasterHeader(wanted_id, "127.0.0.1:30921", 7, 7)
        members = encode_elected_group(BrokerData(CLUSTER, NAME, {1: broker.address}))
        return reply_to(command, 0, ext_fields=write_header(elected), body=members)
    return reply_to(command, 3, remark="not in the script")
