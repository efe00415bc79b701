import io
import logging
import os
from collections.abc import Iterator

import pytest

from aerobee.app.demo.screen import KeptLog, Screen, clipped
from tools.terminal_picture import Terminal


@pytest.fixture
def kept() -> Iterator[KeptLog]:
    """In charge of the log, for a test."""
    log = KeptLog()
    log.take_over()
    yield log
    log.give_back(io.StringIO())


def fed(stream: io.StringIO) -> Terminal:
    terminal = Terminal()
    terminal.feed("before\r\n" + stream.getvalue().replace("\n", "\r\n").replace("\r\r", "\r"))
    return terminal


def test_each_picture_takes_the_place_of_the_last() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.open()
    screen.draw(["a long line", "second", "third"])
    screen.draw(["short", "other"])
    terminal = fed(stream)
    assert terminal.lines()[:3] == ["short", "other", ""]
    assert terminal.is_second_screen
    assert not terminal.has_cursor


def test_in_the_end_the_terminal_is_as_it_was_with_the_last_picture_below() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.open()
    screen.draw(["a", "b"])
    screen.close()
    screen.close()
    terminal = fed(stream)
    assert terminal.lines()[:4] == ["before", "a", "b", ""]
    assert not terminal.is_second_screen
    assert terminal.has_cursor


def test_a_screen_that_was_never_opened_writes_nothing() -> None:
    stream = io.StringIO()
    Screen(stream).close()
    assert stream.getvalue() == ""


def test_a_terminal_that_is_gone_costs_the_pictures_and_the_kept_lines_and_nothing_else(
    kept: KeptLog,
) -> None:
    main, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        screen = Screen(stream)
        screen.open()
        os.close(main)
        screen.draw(["a"])
        screen.draw(["b"])
        screen.close()
    main, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        os.close(main)
        logging.getLogger("aerobee").warning("nobody reads this")
        kept.give_back(stream)
        assert kept.newest == ""


def test_more_than_fits_is_left_out() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.draw([f"{number} " + "x" * 500 for number in range(500)])
    terminal = fed(stream)
    assert terminal.wraps == 0
    assert terminal.lines()[0].startswith("0 x")


def test_colours_take_no_room() -> None:
    assert clipped("\x1b[1mabcdef\x1b[0mgh", 4) == "\x1b[1mabcd\x1b[0m"
    assert clipped("abc", 4) == "abc"


def test_the_log_is_kept_and_given_back(kept: KeptLog) -> None:
    assert kept.newest == ""
    logging.getLogger("aerobee.x").warning("first")
    logging.getLogger("aerobee.x").warning("second")
    assert kept.newest.endswith(" WARNING x second")
    written = io.StringIO()
    kept.give_back(written)
    assert [line.split()[-1] for line in written.getvalue().splitlines()] == ["first", "second"]
    assert kept not in logging.getLogger().handlers
    assert kept.newest == ""
