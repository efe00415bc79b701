"""What a service shows to those who watch it.

Whoever asks does it on the thread of the service. Metrics may be many: they are made while they are
read, and other events of the service may come in between.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from aerobee.model.metric import Metric
from aerobee.ports.clock import Now
from aerobee.ports.service import Service


class Watch(Protocol):
    @property
    def labels(self) -> Mapping[str, str]:
        """Who it is: of every sample."""

    def metrics(self, now: Now) -> Iterator[Metric]: ...

    def ailments(self, now: Now) -> list[str]:
        """Why it is not well; nothing: it is."""

    def obstacles(self, now: Now) -> list[str]:
        """Why it should not be given work; nothing: it is ready."""


class WatchedService(Service, Protocol):
    @property
    def watch(self) -> Watch: ...
