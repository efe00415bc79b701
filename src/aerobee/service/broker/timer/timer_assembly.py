"""Puts the timer room together: the timer, recalls and status requests.

The timer diverts messages with a delivery time from the message writer.
"""

from aerobee.ports.clock import Now
from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.service.broker.timer.recall_handlers import RecallHandlers
from aerobee.service.broker.timer.timer_status_handlers import TimerStatusHandlers
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import LiveConfig


class TimerAssembly:
    """Builds the timer. From then on `writer` diverts messages with a delivery time to it."""

    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        ground: Ground,
        writer: MessageWriter,
        peers: Peers,
        now: Now,
    ) -> None:
        self._identity = identity
        self._config = config
        self._tables = tables
        self._writer = writer
        self._peers = peers
        self.timers = Timers(ground, writer, config, now)
        writer.divert_to(self.timers.acceptance)

    def rows(self) -> list[Row]:
        topics, config = self._tables.topics, self._config
        recalls = RecallHandlers(
            self._writer,
            lambda name: topics.find(name) is not None,
            self._identity.name,
            lambda: config.current,
            self._peers.by_channel,
        )
        return [*recalls.rows(), *TimerStatusHandlers(self.timers).rows()]
