"""GuardedWatch shows a service to monitoring, and knows who may look at its metrics.

Health and readiness are for load balancers, which have no name: they are shown to everybody.
"""

from collections.abc import Iterator, Mapping

from aerobee.model.metric import Metric, Sample, counter
from aerobee.ports.clock import Now
from aerobee.ports.watch import Watch
from aerobee.service.access.gate import Gate


class GuardedWatch:
    """A `ports.watch.Watch`."""

    def __init__(self, watch: Watch, gate: Gate) -> None:
        self._watch = watch
        self._gate = gate

    @property
    def labels(self) -> Mapping[str, str]:
        return self._watch.labels

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield from self._watch.metrics(now)
        if not self._gate.is_open:
            yield counter(
                "aerobee_failed_log_ins_total",
                "Signatures and passwords that were wrong, or of nobody",
                [Sample({}, self._gate.failed)],
            )

    def ailments(self, now: Now) -> list[str]:
        return self._watch.ailments(now)

    def obstacles(self, now: Now) -> list[str]:
        return self._watch.obstacles(now)

    @property
    def asks_who_looks(self) -> bool:
        return not self._gate.is_open

    def may_look(self, name: str, password: str, source: str, now: Now) -> bool:
        return self._gate.lets_look(name, password, source, now.monotonic_ms)
