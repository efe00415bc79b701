import io
import os
import pty

import pytest

from aerobee.app.ink import Ink, ink_for, is_screen


def test_colour_changes_nothing_that_is_read() -> None:
    on, off = Ink(True), Ink(False)
    for name in ("bold", "dim", "red", "green", "yellow", "cyan"):
        assert getattr(off, name)("text") == "text"
        coloured = getattr(on, name)("text")
        assert coloured != "text"
        assert coloured.startswith("\x1b[")
        assert coloured.endswith("text\x1b[0m")


@pytest.mark.parametrize(
    ("environment", "is_a_screen", "has_colour"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_a_terminal_has_colour_unless_it_or_somebody_says_no(
    environment: dict[str, str], is_a_screen: bool, has_colour: bool
) -> None:
    main, other = pty.openpty()
    with open(other, "w", encoding="utf-8") as stream:
        assert is_screen(stream, environment) is is_a_screen
        assert ink_for(stream, environment).is_on is has_colour
    os.close(main)


def test_a_file_is_no_terminal() -> None:
    assert not ink_for(io.StringIO(), {"TERM": "xterm"}).is_on
