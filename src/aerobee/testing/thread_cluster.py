"""A cluster on a thread of its own, for tests that have no event loop, or one of their own.

Its `client` waits; `connect` gives asynchronous ones for the loop of the test. Both live by the
cluster's clock.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Self, Unpack

from aerobee.client.api.client_options import ClientKeywords
from aerobee.client.client import Client
from aerobee.client.connection.loop_portal import ClosedPortal, LoopThread, Portal
from aerobee.client.sync.sync_client import SyncClient, sync
from aerobee.testing.cluster import Cluster
from aerobee.testing.movable_clock import MovableClock


class ThreadCluster:
    def __init__(self, *, brokers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        self._cluster = Cluster(brokers=brokers, settings=settings)
        self._thread = LoopThread("aerobee-cluster")
        self._portal: Portal = ClosedPortal()

    @property
    def clock(self) -> MovableClock:
        return self._cluster.clock

    @property
    def address(self) -> str:
        """Of the name server: what to connect to."""
        return self._cluster.address

    @property
    def client(self) -> SyncClient:
        """A client of it that waits, open as long as it runs."""
        return sync(self._cluster.client)

    @property
    def brokers(self) -> list[str]:
        return self._cluster.brokers

    def connect(self, **options: Unpack[ClientKeywords]) -> Client:
        """An asynchronous client for the loop of the test: `async with cluster.connect()`."""
        return self._cluster.connect(**options)

    def start_broker(self, name: str, *, port: int = 0) -> None:
        self._portal.call(self._cluster.start_broker(name, port=port))

    def stop_broker(self, name: str) -> None:
        self._portal.call(self._cluster.stop_broker(name))

    def __enter__(self) -> Self:
        self._portal = self._thread.start()
        try:
            self._portal.call(self._cluster.__aenter__())
        except BaseException:
            self._thread.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._portal.call(self._cluster.__aexit__(kind, error, trace))
        finally:
            self._portal = ClosedPortal()
            self._thread.stop()
