"""The admin client: administration requests in sections (`topics`, `groups`, `offsets` …).

    async with aerobee.admin("localhost:9876") as admin:
        await admin.topics.create("orders", queues=8)
        (await admin.groups.progress("billing")).lag

It works with RocketMQ's brokers as with Aerobee's. A request that a broker does not support is
refused, and the error says so.

A section is imported when it is first used: a command needs one or two of them, and importing all
would take longer than its answer.

Imports more than 15 modules because it puts the others together.
"""

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from aerobee.client.admin.fan_out import FanOut
from aerobee.client.api.client_options import AdminKeywords, options_for
from aerobee.client.api.keyword_check import check_keywords
from aerobee.client.connection.session import Session
from aerobee.client.core.target import Target
from aerobee.model.route import ClusterInfo

if TYPE_CHECKING:
    from aerobee.client.admin.access import AccessAdmin
    from aerobee.client.admin.brokers import BrokerAdmin, TuningAdmin
    from aerobee.client.admin.connections import ConnectionAdmin
    from aerobee.client.admin.dead_letters import DeadLetterAdmin
    from aerobee.client.admin.groups import GroupAdmin
    from aerobee.client.admin.messages import MessageAdmin
    from aerobee.client.admin.name_servers import NameServerAdmin
    from aerobee.client.admin.offsets import OffsetAdmin
    from aerobee.client.admin.queues import QueueAdmin
    from aerobee.client.admin.replicas import ReplicaAdmin
    from aerobee.client.admin.topics import TopicAdmin
    from aerobee.client.admin.transactions import TransactionAdmin

TIMEOUT_SECONDS = 5.0
"""For one request of an admin client of its own: some take a broker longer than a send."""


class Admin:
    """The sections of the admin client. They use one client's connections and keep no state."""

    def __init__(self, session: Session, *, owns_session: bool = False) -> None:
        """`owns_session`: `async with` opens and closes the session; otherwise its client does."""
        self._session = session
        self._owns_session = owns_session
        self._fan_out = FanOut(session)

    @cached_property
    def topics(self) -> "TopicAdmin":
        from aerobee.client.admin.topics import TopicAdmin

        return TopicAdmin(self._fan_out)

    @cached_property
    def groups(self) -> "GroupAdmin":
        from aerobee.client.admin.groups import GroupAdmin

        return GroupAdmin(self._fan_out)

    @cached_property
    def offsets(self) -> "OffsetAdmin":
        from aerobee.client.admin.offsets import OffsetAdmin

        return OffsetAdmin(self._fan_out)

    @cached_property
    def connections(self) -> "ConnectionAdmin":
        from aerobee.client.admin.connections import ConnectionAdmin

        return ConnectionAdmin(self._fan_out)

    @cached_property
    def queues(self) -> "QueueAdmin":
        from aerobee.client.admin.queues import QueueAdmin

        return QueueAdmin(self._fan_out, self.offsets)

    @cached_property
    def messages(self) -> "MessageAdmin":
        from aerobee.client.admin.message_tracks import MessageTracks
        from aerobee.client.admin.messages import MessageAdmin

        tracks = MessageTracks(self._fan_out, self.offsets, self.connections)
        return MessageAdmin(self._fan_out, self.offsets, self.queues, tracks)

    @cached_property
    def dead_letters(self) -> "DeadLetterAdmin":
        from aerobee.client.admin.dead_letters import DeadLetterAdmin

        return DeadLetterAdmin(self._fan_out, self.messages)

    @cached_property
    def transactions(self) -> "TransactionAdmin":
        from aerobee.client.admin.transactions import TransactionAdmin

        return TransactionAdmin(self._fan_out, self.queues)

    @cached_property
    def brokers(self) -> "BrokerAdmin":
        from aerobee.client.admin.brokers import BrokerAdmin

        return BrokerAdmin(self._fan_out)

    @cached_property
    def replicas(self) -> "ReplicaAdmin":
        from aerobee.client.admin.replicas import ReplicaAdmin

        return ReplicaAdmin(self._fan_out)

    @cached_property
    def name_servers(self) -> "NameServerAdmin":
        from aerobee.client.admin.name_servers import NameServerAdmin

        return NameServerAdmin(self._fan_out)

    @cached_property
    def access(self) -> "AccessAdmin":
        from aerobee.client.admin.access import AccessAdmin

        return AccessAdmin(self._fan_out)

    @cached_property
    def tuning(self) -> "TuningAdmin":
        from aerobee.client.admin.brokers import TuningAdmin

        return TuningAdmin(self._fan_out)

    async def cluster(self) -> ClusterInfo:
        """Every broker that is alive, master and slaves, by cluster."""
        return await self._fan_out.cluster()

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


def admin(target: str | Target = "localhost:9876", **options: Unpack[AdminKeywords]) -> Admin:
    """An admin client with connections of its own, to be used with `async with`. With an open
    client, use `client.admin` instead.

    By keyword, with the default in brackets; a duration is a timedelta or seconds:

    credentials               an access key and its secret (those of the target)
    tls                       True, or an SSLContext (as the target says: rmqs://…?ca=FILE)
    timeout, connect_timeout  for one request (5 s); for a connection (3 s)
    """
    check_keywords(options, AdminKeywords.__optional_keys__, "an admin client")
    options.setdefault("timeout", TIMEOUT_SECONDS)
    return Admin(Session(options_for(target, **options)), owns_session=True)
