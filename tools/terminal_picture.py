"""A picture of a terminal in which a program really runs: `docs/pictures/demo.svg`.

python tools/terminal_picture.py docs/pictures/demo.svg      # aerobee up --demo, after 57 s
python tools/terminal_picture.py OUT.svg --seconds 10 -- COMMAND ARGUMENTS…

The program gets a pseudo-terminal of 80 by 24 and Ctrl-C at the end. What it writes is read as a
terminal would read it, as far as programs of ours go; the text in the picture is text.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

COLUMNS = 80
ROWS = 24
_CELL_WIDTH, _CELL_HEIGHT, _FONT_SIZE, _MARGIN = 8.4, 18, 14, 14
_SEQUENCE = re.compile(r"\x1b\[(\?)?([0-9;]*)([A-Za-z])")
_TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
_PLAIN = ""
_COLOURS = {
    "31": "#f47067",
    "32": "#6bc46d",
    "33": "#daaa3f",
    "36": "#56b6c2",
    "2": "#8b949e",
    _PLAIN: "#d0d7de",
    "1": "#ffffff",
}


class Cell(NamedTuple):
    character: str = " "
    style: str = _PLAIN
    """The number of a colour or weight, as the sequence has it."""


class Terminal:
    """Reads what a program writes. A line that is too long goes on in the next one, and counts."""

    def __init__(self, columns: int = COLUMNS, rows: int = ROWS) -> None:
        self._columns, self._rows = columns, rows
        self._other: list[list[Cell]] = self._blank()
        self.cells = self._blank()
        self.wraps = 0
        self.has_cursor = True
        self.is_second_screen = False
        self._row = self._column = 0
        self._left_at = 0, 0
        self._style = _PLAIN
        self._rest = ""

    def feed(self, text: str) -> None:
        text = self._rest + text
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = _SEQUENCE.match(text, at)
                if found is None:
                    break  # the rest of it comes later
                self._obey(bool(found[1]), found[2], found[3])
                at = found.end()
            else:
                self._put(text[at])
                at += 1
        self._rest = text[at:]

    def lines(self) -> list[str]:
        return ["".join(cell.character for cell in row).rstrip() for row in self.cells]

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._down()
        else:
            if self._column == self._columns:
                self.wraps += 1
                self._column = 0
                self._down()
            self.cells[self._row][self._column] = Cell(character, self._style)
            self._column += 1

    def _down(self) -> None:
        if self._row + 1 < self._rows:
            self._row += 1
        else:
            self.cells = [*self.cells[1:], [Cell()] * self._columns]

    def _obey(self, is_private: bool, numbers: str, letter: str) -> None:
        if is_private:
            self._switch(numbers, letter == "h")
        elif letter == "m":
            self._style = _PLAIN if numbers in ("", "0") else numbers
        elif letter == "H":
            self._row = self._column = 0
        elif letter in "KJ":
            self.cells[self._row][self._column :] = [Cell()] * (self._columns - self._column)
            if letter == "J":
                below = self._rows - self._row - 1
                self.cells[self._row + 1 :] = [[Cell()] * self._columns for _ in range(below)]

    def _switch(self, number: str, is_on: bool) -> None:
        if number == "25":
            self.has_cursor = is_on
        elif number == "1049" and is_on != self.is_second_screen:
            self.is_second_screen = is_on
            self.cells, self._other = (self._blank() if is_on else self._other), self.cells
            if is_on:
                self._left_at = self._row, self._column
            else:
                self._row, self._column = self._left_at

    def _blank(self) -> list[list[Cell]]:
        return [[Cell()] * self._columns for _ in range(self._rows)]


class Program:
    """A program in a terminal of its own."""

    def __init__(self, command: Sequence[str], **environment: str) -> None:
        self.terminal = Terminal()
        self._main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        kept = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a child would ignore it
        try:
            self.process = subprocess.Popen(
                command,
                stdin=other,
                stdout=other,
                stderr=other,
                env={**os.environ, **_TERMINAL, **environment},
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGHUP, kept)
            os.close(other)

    def read(self, seconds: float) -> bool:
        """What it writes next, if that is within so many seconds. False: it has ended."""
        if not select.select([self._main], [], [], max(0.0, seconds))[0]:
            return True
        try:
            data = os.read(self._main, 65536)
        except OSError:  # nobody has the other end any more
            return False
        self.terminal.feed(data.decode("utf-8", "replace"))
        return bool(data)

    def hang_up(self) -> None:
        """Close the terminal, as somebody closes a window."""
        os.close(self._main)
        self.process.send_signal(signal.SIGHUP)

    def stop(self) -> int:
        """As Ctrl-C would; its status."""
        self.process.send_signal(signal.SIGINT)
        while self.read(30):
            pass
        os.close(self._main)
        return self.process.wait(30)


def svg(cells: Sequence[Sequence[Cell]], title: str) -> str:
    """The terminal as an image; runs of one style are one piece of text."""
    width = 2 * _MARGIN + _CELL_WIDTH * max(map(len, cells))
    height = 2 * _MARGIN + _CELL_HEIGHT * len(cells)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#0d1117"/>',
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{_FONT_SIZE}" '
        'xml:space="preserve">',
    ]
    for number, row in enumerate(cells):
        y = _MARGIN + _CELL_HEIGHT * number + _FONT_SIZE
        for start, text, style in _runs(row):
            x, length = _MARGIN + _CELL_WIDTH * start, _CELL_WIDTH * len(text)
            weight = ' font-weight="bold"' if style == "1" else ""
            lines.append(
                f'<text x="{x:g}" y="{y}" textLength="{length:g}" '
                f'fill="{_COLOURS[style]}"{weight}>{escape(text)}</text>'
            )
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _runs(row: Sequence[Cell]) -> list[tuple[int, str, str]]:
    """Pieces of one style, blanks at their ends left out."""
    found: list[tuple[int, str, str]] = []
    at = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end].style == row[at].style:
            end += 1
        text = "".join(cell.character for cell in row[at:end])
        if text.strip():
            found.append((at + len(text) - len(text.lstrip()), text.strip(), row[at].style))
        at = end
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="a picture of a terminal")
    parser.add_argument("target", type=Path)
    parser.add_argument("--seconds", type=float, default=57.0)
    parser.add_argument("command", nargs="*")
    parsed = parser.parse_args()
    command = parsed.command or [
        os.path.join(os.path.dirname(sys.executable), "aerobee"),
        *("up", "--demo"),
    ]
    program = Program(command)
    end = time.monotonic() + parsed.seconds
    while time.monotonic() < end:
        if not program.read(end - time.monotonic()):
            print(f"it has ended, with {program.process.wait()}", file=sys.stderr)
            return 1
    drawn = svg(program.terminal.cells, f"{' '.join(command[1:])} after {parsed.seconds:g} s")
    status = program.stop()
    parsed.target.parent.mkdir(parents=True, exist_ok=True)
    parsed.target.write_text(drawn, "utf-8")
    print(f"{parsed.target}, {len(drawn):,} bytes; the program ended with {status}")
    return status


if __name__ == "__main__":
    sys.exit(main())
