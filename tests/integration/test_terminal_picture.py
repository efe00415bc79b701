"""The picture in the README: made of what a program writes into a terminal, and well-formed."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from tools.terminal_picture import COLUMNS, ROWS, Cell, Program, Terminal, svg

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/pictures/demo.svg"
TEXT = "{http://www.w3.org/2000/svg}text"


def fed(*pieces: str) -> Terminal:
    terminal = Terminal(8, 3)
    for piece in pieces:
        terminal.feed(piece)
    return terminal


def test_text_goes_where_the_cursor_is_in_every_chunking() -> None:
    written = "one\r\n\x1b[1mtwo\x1b[0m\x1b[H\x1b[Konly\r\n\x1b[J"
    assert fed(written).lines() == ["only", "", ""]
    assert fed(*written).lines() == ["only", "", ""]


def test_a_line_that_is_too_long_goes_on_in_the_next_and_counts() -> None:
    terminal = fed("123456789")
    assert (terminal.lines()[:2], terminal.wraps) == (["12345678", "9"], 1)
    assert fed("12345678\r\n9").wraps == 0


def test_below_the_last_line_everything_moves_up() -> None:
    assert fed("a\r\nb\r\nc\r\nd").lines() == ["b", "c", "d"]


def test_the_first_screen_is_back_after_the_second() -> None:
    terminal = fed("first\r\n\x1b[?1049h\x1b[?25l\x1b[Hsecond")
    assert (terminal.lines()[0], terminal.has_cursor) == ("second", False)
    terminal.feed("\x1b[?25h\x1b[?1049lmore")
    assert terminal.lines() == ["first", "more", ""]
    assert terminal.has_cursor


def test_runs_of_one_style_become_one_piece_of_text() -> None:
    row = [*map(Cell, " a b"), *(Cell(character, "31") for character in "<&"), Cell()]
    root = ElementTree.fromstring(svg([row], "a title"))
    assert [element.text for element in root.iter(TEXT)] == ["a b", "<&"]
    assert [element.get("fill") for element in root.iter(TEXT)] == ["#d0d7de", "#f47067"]


def test_a_program_runs_in_a_terminal_of_80_by_24() -> None:
    program = Program(
        [sys.executable, "-c", "import os; print(os.get_terminal_size(), os.isatty(1))"]
    )
    while program.read(30):
        pass
    assert program.stop() == 0
    assert program.terminal.lines()[0] == (
        f"os.terminal_size(columns={COLUMNS}, lines={ROWS}) True"
    )


def test_the_picture_in_the_readme_is_text_of_a_run() -> None:
    assert "](docs/pictures/demo.svg)" in (ROOT / "README.md").read_text("utf-8")
    texts = [element.text or "" for element in ElementTree.parse(PICTURE).iter(TEXT)]
    assert any(text.startswith("demo-orders") for text in texts)
    assert any(re.search(r"up \d:\d\d   cpu \d+%", text) for text in texts)
