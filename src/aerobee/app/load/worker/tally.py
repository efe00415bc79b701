"""Tally counts what one worker has seen: messages, latencies, failures. Times are in nanoseconds.

    due ──── late ────▶ began ──── service ────▶ done
     └───────────────── latency ────────────────┘

`late` is the delay that the load test itself added: its window was full, or its process was busy.
Messages that were due before the measured time (warm-up) are not counted at all.

T1. The intervals add up to the whole.
"""

from typing import Any

from aerobee.app.load.measure.histogram import LatencyHistogram


class Tally:
    def __init__(self, measured_from_ns: int) -> None:
        self.measured_from_ns = measured_from_ns
        self.messages = 0
        self.bytes = 0
        self.errors: dict[str, int] = {}
        self.service_ns = 0
        """All service times together: divided by the time that passed, how many were in flight."""
        self.first_ns = 0
        self.last_ns = 0
        self.latency = LatencyHistogram()
        self.late = LatencyHistogram()
        self._interval = LatencyHistogram()
        self._told_messages = 0
        self._told_bytes = 0
        self._told_errors = 0

    def done(self, due_ns: int, began_ns: int, done_ns: int, messages: int, size: int) -> None:
        """Count a send that was answered."""
        if due_ns < self.measured_from_ns:
            return
        self._passed(done_ns, messages, size)
        self.service_ns += done_ns - began_ns
        self._interval.record(done_ns - due_ns, messages)
        self.late.record(began_ns - due_ns, messages)

    def failed(self, due_ns: int, messages: int, reason: str) -> None:
        if due_ns >= self.measured_from_ns:
            self.errors[reason] = self.errors.get(reason, 0) + messages

    def received(self, now_ns: int, size: int, due_ns: int | None) -> None:
        """Count a received message. `due_ns`: its due time, if it is stamped."""
        if (now_ns if due_ns is None else due_ns) < self.measured_from_ns:
            return
        self._passed(now_ns, 1, size)
        if due_ns is not None:
            self._interval.record(now_ns - due_ns)

    def never_sent(self, waited_ns: int, messages: int) -> None:
        """Count messages that were due and not sent before the end, with their least latency."""
        self._interval.record(waited_ns, messages)

    def take_interval(self) -> dict[str, Any]:
        """Return the counts since the last call."""
        failed = sum(self.errors.values())
        said = {
            "messages": self.messages - self._told_messages,
            "bytes": self.bytes - self._told_bytes,
            "errors": failed - self._told_errors,
            "latency": self._interval.to_json(),
        }
        self._told_messages, self._told_bytes = self.messages, self.bytes
        self._told_errors = failed
        self.latency.add(self._interval)
        self._interval = LatencyHistogram()
        return said

    def to_json(self) -> dict[str, Any]:
        """Return the whole tally; call `take_interval` first."""
        return {
            "messages": self.messages,
            "bytes": self.bytes,
            "errors": self.errors,
            "service_ns": self.service_ns,
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "latency": self.latency.to_json(),
            "late": self.late.to_json(),
        }

    def _passed(self, now_ns: int, messages: int, size: int) -> None:
        if self.messages == 0:
            self.first_ns = now_ns
        self.messages += messages
        self.bytes += size
        self.last_ns = now_ns
