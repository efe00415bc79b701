"""Watch: the interface between a service and monitoring.

Called on the thread of the service. Metrics may be many: they are made while they are read, and
other events of the service may come in between.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from aerobee.model.metric import Metric
from aerobee.ports.clock import Now
from aerobee.ports.service import Service


class Watch(Protocol):
    @property
    def labels(self) -> Mapping[str, str]:
        """Labels that identify the service, for every sample."""

    def metrics(self, now: Now) -> Iterator[Metric]: ...

    def ailments(self, now: Now) -> list[str]:
        """The reasons why it is not well; empty: it is."""

    def obstacles(self, now: Now) -> list[str]:
        """The reasons why it should not be given work; empty: it is ready."""


class AskingWatch(Watch, Protocol):
    """A watch that knows who may look at metrics."""

    @property
    def asks_who_looks(self) -> bool:
        """Whether not everybody may."""

    def may_look(self, name: str, password: str, source: str, now: Now) -> bool:
        """Whether a user with this password may, from an address."""


class WatchedService(Service, Protocol):
    @property
    def watch(self) -> AskingWatch: ...
