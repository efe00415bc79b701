import contextlib
import io
import logging
import re
import sys
from collections.abc import Iterator

import pytest

from aerobee.app.process.log_setup import LINE_CHARS_MAX, LineFormatter, logs_shown, pass_on


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a logger of its own writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    logger = logging.getLogger("aerobee.test_log_setup")
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel("INFO")
    yield stream
    logger.removeHandler(handler)


def log() -> logging.Logger:
    return logging.getLogger("aerobee.test_log_setup")


def test_a_line_has_a_time_a_level_a_place_a_text_and_what_differs(written: io.StringIO) -> None:
    log().warning("a broker is gone", extra={"address": "h:1", "channel": 7})
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING test_log_setup "
        r"a broker is gone address=h:1 channel=7\n",
        written.getvalue(),
    )


def test_a_value_cannot_begin_a_line_of_its_own(written: io.StringIO) -> None:
    log().info("said %s", "a\nb", extra={"peer": "x\r\n2026 ERROR"})
    assert written.getvalue().count("\n") == 1
    assert "said a\\nb peer=x\\r\\n2026 ERROR" in written.getvalue()


def test_a_value_cannot_move_a_cursor_or_turn_a_line_around(written: io.StringIO) -> None:
    log().info("said", extra={"client": "a\x1b[2Jb\x00\x85\u2028\u202e é 订单"})
    assert "client=a\\x1b[2Jb\\x00\\x85\\u2028\\u202e é 订单\n" in written.getvalue()


def test_a_line_has_an_end(written: io.StringIO) -> None:
    log().info("said", extra={"client": "a" * 100_000})
    assert len(written.getvalue()) == LINE_CHARS_MAX + 1


def test_a_traceback_follows_its_line(written: io.StringIO) -> None:
    try:
        raise ValueError("why")
    except ValueError:
        log().exception("it failed")
    lines = written.getvalue().splitlines()
    assert lines[0].endswith("ERROR test_log_setup it failed")
    assert lines[-1] == "ValueError: why"


def test_logs_go_to_stderr_from_a_level_on() -> None:
    root = logging.getLogger()
    with logs_shown("WARNING"):
        (handler,) = root.handlers
        assert isinstance(handler, logging.StreamHandler)
        assert handler.stream is sys.stderr
        assert isinstance(handler.formatter, LineFormatter)
        assert root.level == logging.WARNING


def test_the_log_of_whoever_runs_a_command_is_as_it_was() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    with contextlib.suppress(ValueError), logs_shown("DEBUG", stream):
        root.debug("seen")
        raise ValueError
    root.error("not wanted")
    assert (root.handlers, root.level) == (handlers, level)
    assert "seen" in stream.getvalue()
    assert "not wanted" not in stream.getvalue()


def test_a_line_of_another_process_is_passed_on_as_it_is() -> None:
    stream = io.StringIO()
    with logs_shown("WARNING", stream):
        pass_on("2026-01-31T12:00:00.123Z ERROR store the disk is full at=/data")
        pass_on("100 %s of it\x1b[2J")
    first, second = stream.getvalue().splitlines()
    assert first == "2026-01-31T12:00:00.123Z ERROR store the disk is full at=/data"
    assert second == "100 %s of it\\x1b[2J"
