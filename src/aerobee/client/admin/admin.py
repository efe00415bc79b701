"""The admin client: what can be asked of a cluster, by what it is about.

    async with aerobee.admin("localhost:9876") as admin:
        await admin.topics.create("orders", queues=8)
        (await admin.groups.progress("billing")).lag

It works against RocketMQ's brokers as against ours. What a broker does not know, it refuses, and
the error says so.

Imports more than 15 modules because it puts the others together.
"""

import ssl
from types import TracebackType
from typing import Self

from aerobee.client.admin.access import AccessAdmin
from aerobee.client.admin.asking import Asking
from aerobee.client.admin.brokers import BrokerAdmin
from aerobee.client.admin.connections import ConnectionAdmin
from aerobee.client.admin.dead_letters import DeadLetterAdmin
from aerobee.client.admin.groups import GroupAdmin
from aerobee.client.admin.messages import MessageAdmin
from aerobee.client.admin.name_server_admin import NameServerAdmin
from aerobee.client.admin.offsets import OffsetAdmin
from aerobee.client.admin.queues import QueueAdmin
from aerobee.client.admin.topics import TopicAdmin
from aerobee.client.admin.tracks import Tracks
from aerobee.client.admin.transactions import TransactionAdmin
from aerobee.client.admin.tuning import TuningAdmin
from aerobee.client.core.target import Credentials, Target
from aerobee.client.options import Duration, options_for
from aerobee.client.session import Session
from aerobee.model.route import ClusterInfo


class Admin:
    """Everything of it happens over the connections of a client; it keeps nothing itself."""

    def __init__(self, session: Session, *, owns_session: bool = False) -> None:
        """`owns_session`: it is opened and closed with `async with`; else with its client."""
        self._session = session
        self._owns_session = owns_session
        self._asking = Asking(session)
        self.topics = TopicAdmin(self._asking)
        self.groups = GroupAdmin(self._asking)
        self.offsets = OffsetAdmin(self._asking)
        self.connections = ConnectionAdmin(self._asking)
        self.queues = QueueAdmin(self._asking, self.offsets)
        tracks = Tracks(self._asking, self.offsets, self.connections)
        self.messages = MessageAdmin(self._asking, self.offsets, self.queues, tracks)
        self.dead_letters = DeadLetterAdmin(self._asking, self.messages)
        self.transactions = TransactionAdmin(self._asking)
        self.brokers = BrokerAdmin(self._asking)
        self.name_servers = NameServerAdmin(self._asking)
        self.access = AccessAdmin(self._asking)
        self.tuning = TuningAdmin(self._asking)

    async def cluster(self) -> ClusterInfo:
        """Every broker that is alive, master and slaves, by cluster."""
        return await self._asking.cluster()

    async def __aenter__(self) -> Self:
        if self._owns_session:
            await self._session.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._owns_session:
            await self._session.close()


def admin(
    target: str | Target = "localhost:9876",
    *,
    credentials: Credentials | None = None,
    tls: ssl.SSLContext | bool | None = None,
    timeout: Duration = 5.0,
    connect_timeout: Duration = 3.0,
) -> Admin:
    """An admin client of its own, to be used with `async with`. Who has a client already uses
    `client.admin`."""
    options = options_for(
        target,
        credentials=credentials,
        tls=tls,
        timeout=timeout,
        connect_timeout=connect_timeout,
    )
    return Admin(Session(options), owns_session=True)
