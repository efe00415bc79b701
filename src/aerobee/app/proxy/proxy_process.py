"""ProxyPart starts and stops a proxy on real sockets and clocks.

Name servers and brokers need not be there when it starts: calls are refused until they are.

Imports more than 15 modules because it puts the others together.
"""

import contextlib
import logging
import os
import time

from aerobee.app.process.lifecycle import Ended, explained, shout_if_open
from aerobee.app.process.monitor import Monitor
from aerobee.app.process.safety import Safety, safety_of
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.app.settings.proxy_settings import ProxySettings
from aerobee.client.core.identity import client_id
from aerobee.net.driver import Driver
from aerobee.net.listener import bind, outward_address, port_of
from aerobee.ports.service import Peer
from aerobee.service.gateway.callers import GuardConfig
from aerobee.service.gateway.gateway import Gateway
from aerobee.service.gateway.gateway_assembly import GatewayIdentity
from aerobee.system.clock import SystemClock

_log = logging.getLogger(__name__)

_HOME = "~/proxy"
"""Where the audit trail is, unless its settings say otherwise."""
_PORT_HINT = "choose another with --port, or grpcServerPort in the file"


class ProxyPart:
    """A proxy, as a part of a process."""

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._undo = contextlib.AsyncExitStack()
        self._monitor = Monitor(SystemClock())
        self.address = ""
        """Where clients of gRPC reach it, once it has started."""

    async def start(self, failed: Ended) -> str:
        settings = self._settings
        if settings.ignored:
            _log.info("settings without a meaning here: %s", ", ".join(settings.ignored))
        async with contextlib.AsyncExitStack() as undo:
            listen = settings.listen
            safety = safety_of(
                settings.tls,
                settings.audit,
                os.path.expanduser(_HOME),
                undo,
                is_exposed=settings.is_exposed,
                asks=settings.access.authenticates,
            )
            self._monitor.show_safety(safety)
            with explained(listen, hint=_PORT_HINT):
                sockets = bind(listen.host, listen.port)
            for bound in sockets:
                undo.callback(bound.close)
            service = self._service(safety, port_of(sockets[0]))
            told = (SystemClock(), listen.connections_max, safety.tls_state)
            driver = Driver.of_calls(service, *told)
            with explained(listen, hint="it was free a moment ago"):
                await driver.start([], failed, grpc_sockets=sockets)
            undo.push_async_callback(driver.stop)
            self.address = str(Peer(listen.host, port_of(sockets[0])))
            places = [f"proxy {self.address}"]
            if settings.monitor.exporter is Exporter.PROM:
                undo.push_async_callback(self._monitor.close)
                self._monitor.show(service.watch, driver.connections)
                places.append(f"metrics {await self._monitor.listen(settings.pages_at)}")
            self._undo = undo.pop_all()
        if settings.is_exposed:
            shout_if_open(sockets)
        return ", ".join(places)

    async def stop(self) -> None:
        await self._undo.aclose()

    def _service(self, safety: Safety, port: int) -> Gateway:
        settings = self._settings
        host = settings.links.host or outward_address(settings.listen.host)
        name = client_id(host, os.getpid(), time.monotonic_ns(), unit="proxy")
        return Gateway(
            GatewayIdentity(name, Peer(host, port)),
            settings.service,
            settings.links.nameservers,
            SystemClock().now(),
            GuardConfig(settings.access, settings.limits, safety.audit_sink),
        )
