"""MemberLifecycle applies the coming and going of group members: notifies the others, frees locks.

Members of a group share its queues by the list of all members. So when a member comes or goes, by
UNREGISTER_CLIENT, a closed connection or silence, the others are notified at once; broadcasting
members share nothing and are not notified.
"""

import logging
from collections.abc import Iterable

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Reply
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat
from aerobee.protocol.headers.clients import ConsumerGroupHeader
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.clients.consumers import ConsumerGroup, Consumers, Member
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.state.groups import Groups
from aerobee.service.live_config import LiveConfig

_log = logging.getLogger(__name__)

SCAN_INTERVAL_MS = 10_000


class MemberLifecycle:
    """Changes the tables of producers and consumers together."""

    def __init__(
        self,
        consumers: Consumers,
        producers: Producers,
        locks: QueueLocks,
        groups: Groups,
        config: LiveConfig[BrokerConfig],
        outbox: Effects,
    ) -> None:
        self._consumers = consumers
        self._producers = producers
        self._locks = locks
        self._groups = groups
        self._config = config
        self._outbox = outbox
        self._scanned_ms: int | None = None

    def beat_producer(self, group: str, member: Member) -> None:
        self._producers.beat(group, member)

    def beat_consumer(self, heartbeat: Heartbeat, beat: ConsumerBeat, member: Member) -> bool:
        """Apply one group of a heartbeat. Returns whether the client has to send its subscriptions:
        it left them out and they differ from the known ones, or another member's differ."""
        known = self._consumers.find(beat.group)
        fingerprint = known.fingerprint if known is not None else None
        is_changed = self._consumers.beat(
            beat, member, has_subscriptions=not heartbeat.is_without_subscriptions
        )
        group = self._consumers.find(beat.group)
        assert group is not None
        if heartbeat.fingerprint != 0:
            group.fingerprint = heartbeat.fingerprint
        if is_changed:
            self._tell(group)
        if fingerprint is None:
            # After a restart of the broker no member has sent them yet.
            return heartbeat.is_without_subscriptions
        return fingerprint != heartbeat.fingerprint

    def leave_producer(self, group: str, channel: ChannelId) -> None:
        self._producers.unregister(group, channel)

    def leave_consumer(self, group: str, channel: ChannelId) -> None:
        member = self._consumers.unregister(group, channel)
        if member is not None:
            self._left(group, member)

    def on_closed(self, channel: ChannelId) -> None:
        """A connection is closed: end all its memberships."""
        self._producers.drop_channel(channel)
        for group, member in self._consumers.memberships(channel):
            self._consumers.unregister(group, channel)
            self._left(group, member)

    def on_tick(self, now: Now) -> None:
        if self._scanned_ms is None:
            self._scanned_ms = now.monotonic_ms
        if now.monotonic_ms - self._scanned_ms >= SCAN_INTERVAL_MS:
            self._scanned_ms = now.monotonic_ms
            self._drop_silent(now.monotonic_ms)
            self._locks.drop_expired(now.monotonic_ms)
            self._consumers.tell_mismatches()

    def _drop_silent(self, monotonic_ms: int) -> None:
        ms_max = self._config.current.client_ms_max
        channels: dict[ChannelId, str] = {}
        for group, member in self._producers.find_silent(monotonic_ms, ms_max):
            self._producers.unregister(group, member.channel)
            channels[member.channel] = member.client_id
        for group, member in self._consumers.find_silent(monotonic_ms, ms_max):
            self.leave_consumer(group, member.channel)
            channels[member.channel] = member.client_id
        for channel, client_id in channels.items():
            # A client that only left one of its groups keeps its connection.
            if not self._consumers.has_channel(channel) and not self._producers.has_channel(
                channel
            ):
                _log.warning("a client fell silent and is removed", extra={"client": client_id})
                self._outbox.append(CloseChannel(channel, "the client on it fell silent"))

    def _left(self, group: str, member: Member) -> None:
        remaining = self._consumers.find(group)
        # A client that came back on another connection has not gone.
        if remaining is None or not remaining.has_client(member.client_id):
            self._locks.drop_member(group, member.client_id)
        if remaining is not None:
            self._tell(remaining)

    def _tell(self, group: ConsumerGroup) -> None:
        """Notify the members that the list of members changed."""
        config = self._groups.find(group.name)
        if (
            group.is_broadcasting
            or not self._config.current.notifies_changes
            or (config is not None and not config.notifies_changes)
        ):
            return
        self._outbox += _news(group.name, group.members)


def _news(group: str, channels: Iterable[ChannelId]) -> Iterable[Reply]:
    for channel in channels:
        news = RemotingCommand(
            RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
            flag=ONEWAY_FLAG,
            ext_fields=write_header(ConsumerGroupHeader(group)),
        )
        yield Reply(channel, news)
