"""Meter counts the progress of a capture, for the terminal, for Prometheus and for requests.

The parts of a capture write to it, pages and the terminal read from it, all on one event loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from aerobee.model.metric import Metric, Sample, counter, gauge, single_gauge
from aerobee.pipeline.capture.position import Phase, Position

LINE_COLUMNS_MAX = 79


@dataclass(slots=True)
class Meter:
    """Counters and gauges of one process, since it started."""

    phase: Phase = Phase.SNAPSHOT
    position: Position = field(default_factory=lambda: Position("", 0))
    rows: dict[str, int] = field(default_factory=dict)
    """By operation: c, u, d, r, t."""
    body_bytes: int = 0
    transactions: int = 0
    lag_seconds: float = 0.0
    restarts: int = 0
    table: str = ""
    """That is being read, while there is a snapshot."""

    @property
    def rows_all(self) -> int:
        return sum(self.rows.values())

    def count(self, op: str, body_bytes: int) -> None:
        self.rows[op] = self.rows.get(op, 0) + 1
        self.body_bytes += body_bytes

    def line(self, rows_a_second: float) -> str:
        """One line of progress for the terminal."""
        if self.phase is Phase.SNAPSHOT:
            doing = f"snapshot of {self.table}" if self.table else "snapshot"
        else:
            doing = f"at {self.position}, {lag_text(self.lag_seconds)}"
        text = f"{self.rows_all:,} rows, {rows_a_second:,.0f}/s, {doing}"
        return text if len(text) <= LINE_COLUMNS_MAX else text[: LINE_COLUMNS_MAX - 1] + "…"

    def metrics(self) -> Iterator[Metric]:
        yield counter(
            "aerobee_capture_rows_total",
            "Changes that were handed over to a broker",
            [Sample({"op": op}, count) for op, count in sorted(self.rows.items())],
        )
        yield counter(
            "aerobee_capture_body_bytes_total",
            "Bytes of their bodies",
            [Sample({}, self.body_bytes)],
        )
        yield counter(
            "aerobee_capture_transactions_total",
            "Transactions of the database that were read",
            [Sample({}, self.transactions)],
        )
        yield counter(
            "aerobee_capture_restarts_total",
            "Times that it began again because a database or a broker did not answer",
            [Sample({}, self.restarts)],
        )
        yield single_gauge(
            "aerobee_capture_lag_seconds",
            "How old the last change is that is not the newest; 0 when all were read",
            self.lag_seconds,
        )
        yield gauge(
            "aerobee_capture_position",
            "Bytes of the log file that were read",
            [Sample({"file": self.position.file}, self.position.offset)],
        )
        yield single_gauge(
            "aerobee_capture_snapshot", "1 while tables are read", self.phase is Phase.SNAPSHOT
        )


def lag_text(seconds: float) -> str:
    if seconds < 1:
        return "up to date"
    if seconds < 120:
        return f"{seconds:.0f} s behind"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min behind"
    return f"{seconds / 3600:.0f} h behind"
