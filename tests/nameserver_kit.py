"""A name server on a pretended world, and requests as brokers, clients and tools write them."""

from collections.abc import Mapping

from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.audit import AuditSink
from aerobee.ports.service import ChannelId, CloseChannel, Dial, Reply
from aerobee.protocol.bodies.register_broker import (
    RegisterBroker,
    body_crc,
    encode_register_broker,
)
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.config import OPEN, AccessConfig
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig
from aerobee.service.nameserver.key_values import KeyValues
from aerobee.service.nameserver.nameserver import NameServer
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

KEY_VALUES_PATH = "namesrv/kvConfig.json"
CHANGES_PATH = "namesrv/namesrv.properties"
BROKER = ChannelId(1)
CLIENT = ChannelId(2)


class NameServerKit:
    """One name server. Disk work is done before `ask` returns; time moves when told."""

    def __init__(
        self,
        config: NameServerConfig | None = None,
        disk: SimDisk | None = None,
        access: AccessConfig = OPEN,
        audit: AuditSink | None = None,
    ) -> None:
        self.clock = SimClock()
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.closed: list[ChannelId] = []
        self.dialed: list[Dial] = []
        key_values = KeyValues(ConfigFile(self.disk, KEY_VALUES_PATH, is_pretty=False), self.worker)
        live = LiveConfig(
            config or NameServerConfig(),
            SETTINGS,
            ChangesFile(self.disk, CHANGES_PATH, {}),
            self.worker,
            {"listenPort": "9876"},
        )
        self.service = NameServer(live, key_values, self.worker, self.clock.now(), access, audit)

    def send(self, command: RemotingCommand, channel: ChannelId = CLIENT) -> list[RemotingCommand]:
        """Everything that is written to the channel, the disk work of the command done."""
        effects = self.service.on_command(channel, command, self.clock.now())
        self.worker.run_all()
        effects += self.service.on_tick(self.clock.now())
        self.dialed += [e for e in effects if isinstance(e, Dial)]
        return [e.command for e in effects if isinstance(e, Reply) and e.channel == channel]

    def ask(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        channel: ChannelId = CLIENT,
        version: int = 513,
    ) -> RemotingCommand:
        """The one answer to a request."""
        command = RemotingCommand(
            code, opaque=7, version=version, ext_fields=dict(fields or {}), body=body
        )
        (answer,) = self.send(command, channel)
        assert answer.is_response
        assert answer.opaque == 7
        return answer

    def tell(self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b"") -> None:
        """A one-way request."""
        command = RemotingCommand(code, flag=ONEWAY_FLAG, ext_fields=dict(fields or {}), body=body)
        assert self.send(command) == []

    def pass_time(self, ms: int) -> None:
        """Ticks included."""
        for _ in range(0, ms, 1000):
            effects = self.service.on_tick(self.clock.advance(min(1000, ms)))
            self.closed += [e.channel for e in effects if isinstance(e, CloseChannel)]

    def register(
        self,
        *topics: TopicConfig,
        name: str = "broker-a",
        broker_id: int = 0,
        address: str = "10.0.0.1:10911",
        version: DataVersion | None = None,
        channel: ChannelId = BROKER,
        fields: Mapping[str, str] | None = None,
    ) -> RemotingCommand:
        upload = RegisterBroker(
            {topic.name: topic for topic in topics}, version or DataVersion(0, 0, 1)
        )
        body = encode_register_broker(upload)
        return self.ask(
            103,
            {
                **place(name, broker_id, address),
                "haServerAddr": address.replace("10911", "10912"),
                "compressed": "false",
                "bodyCrc32": str(body_crc(body)),
                "enableActingMaster": "false",
                **(fields or {}),
            },
            body,
            channel=channel,
        )


def place(
    name: str = "broker-a", broker_id: int = 0, address: str = "10.0.0.1:10911"
) -> dict[str, str]:
    return {
        "clusterName": "DefaultCluster",
        "brokerName": name,
        "brokerId": str(broker_id),
        "brokerAddr": address,
    }
