"""What commands print: records as a table, JSON, YAML, NDJSON or CSV; errors with what to do next.

    status   0 well, 1 failed, 2 wrong use, 3 not found, 4 unhealthy

Records go to stdout and nothing else does, so that a pipe gets data. Errors go to stderr: a line
for people, an object with `code`, `message` and `hint` for programs (`-o json`, `-o ndjson`).
"""

import csv
import json
import os
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TextIO

from aerobee.errors import AerobeeError, TopicNotFound

OK = 0
FAILED = 1
WRONG_USE = 2
NOT_FOUND = 3
UNHEALTHY = 4

TABLE, JSON, YAML, NDJSON, CSV = FORMATS = ("table", "json", "yaml", "ndjson", "csv")

Record = Mapping[str, object]

_GAP = "  "


def write_records(
    records: Sequence[Record], form: str, stream: TextIO, *, empty: str = "nothing"
) -> None:
    """All records have the same fields, in the order in which they are shown. `empty` is what a
    table says when there is none."""
    if form == TABLE:
        stream.write(table(records) if records else f"{empty}\n")
    elif form == JSON:
        stream.write(json.dumps(list(records), indent=2, ensure_ascii=False) + "\n")
    elif form == NDJSON:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    elif form == YAML:
        stream.write(_yaml(records))
    elif records:
        writer = csv.writer(stream)
        writer.writerow(records[0])
        writer.writerows([_cell(value) for value in record.values()] for record in records)


def table(records: Sequence[Record]) -> str:
    """Columns as wide as they need to be; numbers to the right. Headings in capitals."""
    names = list(records[0])
    rows = [[_cell(record[name]) for name in names] for record in records]
    headings = [name.upper() for name in names]
    widths = [
        max(map(_width, (heading, *(row[at] for row in rows))))
        for at, heading in enumerate(headings)
    ]
    is_number = [all(isinstance(record[name], int | float) for record in records) for name in names]
    lines = []
    for row in (headings, *rows):
        cells = [
            _padded(cell, width, is_right)
            for cell, width, is_right in zip(row, widths, is_number, strict=True)
        ]
        lines.append(_GAP.join(cells).rstrip())
    return "\n".join(lines) + "\n"


def write_error(error: AerobeeError, form: str, stream: TextIO) -> int:
    """Say what went wrong: the status of the process."""
    if form in (JSON, NDJSON):
        said = {"code": type(error).__name__, "message": error.message, "hint": error.hint}
        stream.write(json.dumps(said, ensure_ascii=False) + "\n")
    else:
        stream.write(f"aerobee: {error.message}\n")
        if error.hint:
            stream.write(f"  hint: {error.hint}\n")
    return NOT_FOUND if isinstance(error, TopicNotFound) else FAILED


def is_terminal(stream: TextIO = sys.stdout) -> bool:
    """Whether somebody is looking, who can be asked and shown colours."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return str(value).replace("\n", "\\n")


def _yaml(records: Sequence[Record]) -> str:
    """A scalar of JSON is one of YAML, too."""
    if not records:
        return "[]\n"
    lines = []
    for record in records:
        for at, (name, value) in enumerate(record.items()):
            lead = "- " if at == 0 else "  "
            lines.append(f"{lead}{name}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _width(text: str) -> int:
    """How many places of a terminal: some characters take two, some none."""
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1
        for char in text
    )


def _padded(text: str, width: int, is_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if is_right else text + space
