from typing import Any

import pytest

from aerobee.pipeline.jobs.progress_line import lag_of, progress_line, rows_of


def places(*offsets: int) -> dict[str, Any]:
    return {"o": {"t": {"b": {str(queue): at for queue, at in enumerate(offsets)}}}, "v": 1}


def source(rows: int, end: Any, latest: Any) -> dict[str, Any]:
    return {"numInputRows": rows, "endOffset": end, "latestOffset": latest}


def test_a_line_has_rows_speed_lag_and_time() -> None:
    progress = {
        "batchId": 12,
        "batchDuration": 290,
        "processedRowsPerSecond": 5172.4,
        "sources": [source(1500, places(900, 600), places(1000, 800))],
    }
    assert progress_line(progress) == ("batch 12   1,500 rows   5,172 rows/s   lag 300   0.29 s")


def test_an_empty_batch_has_a_line_too() -> None:
    assert progress_line({"batchId": 0}) == "batch 0   0 rows   0 rows/s   lag -   0.00 s"


@pytest.mark.parametrize(
    ("end", "latest", "lag"),
    [
        (places(5), places(5), 0),
        (places(5), places(5, 7), 7),
        (places(9), places(5), 0),
        (None, places(5), None),
        ("0", "5", None),
    ],
)
def test_lag_is_what_is_there_and_was_not_read(end: Any, latest: Any, lag: int | None) -> None:
    assert lag_of({"sources": [source(0, end, latest)]}) == lag


def test_sources_add_up() -> None:
    two = {"sources": [source(3, places(1), places(2)), source(4, places(1), places(4))]}
    assert (rows_of(two), lag_of(two)) == (7, 4)
