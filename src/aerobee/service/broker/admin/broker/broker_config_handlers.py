"""UPDATE_BROKER_CONFIG and GET_BROKER_CONFIG: change and show the configuration.

Only settings that `SETTINGS` marks as live can be changed: a switch or a number with its range, no
path, no address, no command. RocketMQ writes changes into the file that it was started with; here
they go into a separate file in the store and apply at the next start as well, below environment
variables and flags.
"""

from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.config_requests import change_config, config_text
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store


class BrokerConfigHandlers:
    def __init__(self, config: LiveConfig[BrokerConfig], store: Store, started: Now) -> None:
        self._config = config
        self._store = store
        self._started = started
        config.when_changed(self._changed)

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.UPDATE_BROKER_CONFIG, NoHeader, self._update, lane),
            row(code.GET_BROKER_CONFIG, NoHeader, self._show, lane),
        ]

    def _update(self, request: Request, header: NoHeader) -> Answer | None:
        return change_config(self._config, request)

    def _changed(self, before: BrokerConfig, now: BrokerConfig) -> None:
        """Pass on settings that the store does not look up by itself."""
        if now.retention_ms != before.retention_ms:
            self._store.set_retention(now.retention_ms)

    def _show(self, request: Request, header: NoHeader) -> Answer:
        version = DataVersion(timestamp=self._started.wall_ms)
        return Answer(
            fields={"version": encode_data_version(version).decode()},
            body=config_text(self._config),
        )
