"""Figures, as a line and as metrics."""

import pytest

from aerobee.pipeline.capture.meter import LINE_COLUMNS_MAX, Meter, lag_text
from aerobee.pipeline.capture.position import Phase, Position
from aerobee.protocol.text.metric_text import metrics_text


def test_a_line_says_what_is_done_and_fits() -> None:
    meter = Meter(table="shop.orders")
    meter.count("r", 100)
    assert meter.line(12_345.6) == "1 rows, 12,346/s, snapshot of shop.orders"
    meter.phase, meter.position = Phase.STREAMING, Position("binlog.000001", 4711)
    assert meter.line(0) == "1 rows, 0/s, at binlog.000001:4711, up to date"
    meter.position = Position("b" * 100, 1)
    assert len(meter.line(0)) == LINE_COLUMNS_MAX


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.9, "up to date"), (61, "61 s behind"), (600, "10 min behind"), (9000, "2 h behind")],
)
def test_lag_is_said_in_fitting_units(seconds: float, text: str) -> None:
    assert lag_text(seconds) == text


def test_metrics_have_rows_by_operation_lag_and_position() -> None:
    meter = Meter(Phase.STREAMING, Position("b.000001", 7), lag_seconds=1.5, restarts=2)
    meter.count("c", 10)
    meter.count("c", 10)
    text = b"".join(metrics_text(meter.metrics(), {"capture": "shop"})).decode()
    assert 'aerobee_capture_rows_total{capture="shop",op="c"} 2\n' in text
    assert 'aerobee_capture_body_bytes_total{capture="shop"} 20\n' in text
    assert 'aerobee_capture_lag_seconds{capture="shop"} 1.5\n' in text
    assert 'aerobee_capture_position{capture="shop",file="b.000001"} 7\n' in text
    assert 'aerobee_capture_restarts_total{capture="shop"} 2\n' in text
    assert 'aerobee_capture_snapshot{capture="shop"} 0\n' in text
