"""Output of commands: records as a table, JSON, YAML, NDJSON or CSV; errors with a hint.

    status   0 success, 1 failed, 2 wrong use, 3 not found, 4 unhealthy

Only records go to stdout, so that a pipe gets data. Errors go to stderr with `code`, `message` and
`hint`: as lines for people, in the chosen format for programs.

A table is cut to the width of the terminal, the widest texts first, never a number or an id;
without a terminal, and with `--wide`, nothing is cut. Names of fields are lower case with
underscores, and do not change: programs read them. Headings are made of them: `sends_per_s` is
SENDS/S. A number that JSON does not have (NaN, infinity) is null in JSON, NDJSON and YAML.
"""

import csv
import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TextIO

from aerobee.errors import (
    AerobeeError,
    NoAnswer,
    NotFound,
    PartlyDone,
    Refused,
    RemoteAnswer,
    Retriable,
    TopicNotFound,
    Unreachable,
)

OK = 0
FAILED = 1
WRONG_USE = 2
NOT_FOUND = 3
UNHEALTHY = 4

TABLE, JSON, YAML, NDJSON, CSV = FORMATS = ("table", "json", "yaml", "ndjson", "csv")

Record = Mapping[str, object]

_GAP = "  "
_CUT = "…"
_NARROWEST = 6
# What comes from messages must not move a terminal's cursor, nor break a line.
_CONTROLS = {
    code: {9: "\\t", 10: "\\n", 13: "\\r"}.get(code, f"\\x{code:02x}")
    for code in (*range(32), *range(127, 160))
}
# What to do next where an error does not say it itself.
_HINTS = (
    (Unreachable, "is it running, and reachable from here? `aerobee nameserver list`"),
    (NoAnswer, "it may have been done all the same: look before you try again"),
    (Retriable, "mend what it says, or try again; `aerobee cluster health` says how brokers are"),
    (Refused, "a broker refuses it, and will again: mend what it says"),
    (PartlyDone, "try again with --on, for those that failed"),
)
# RocketMQ's answers for what is not there: a topic, a message or key, a group.
_NOT_FOUND_ANSWERS = frozenset({17, 22, 26})


class Whole(str):
    """A text that must not be cut: an id."""


class Instant(Whole):
    """A time in full for programs; people see it to the second."""

    def brief(self) -> str:
        return self[:19].replace("T", " ")


class WrongUse(AerobeeError):
    """The command line is not valid."""


def write_records(
    records: Sequence[Record],
    form: str,
    stream: TextIO,
    *,
    empty: str = "nothing",
    width: int | None = None,
    has_heading: bool = True,
) -> None:
    """Print records. All have the same fields, in the order in which they are shown. `empty` is
    printed instead of an empty table; `width` is the maximal width; `has_heading` is for CSV that
    continues."""
    if form == TABLE:
        stream.write(table(records, width) if records else f"{empty}\n")
    elif form == JSON:
        stream.write(_json(list(records), indent=2) + "\n")
    elif form == NDJSON:
        for record in records:
            stream.write(_json(record) + "\n")
    elif form == YAML:
        stream.write(_yaml(records))
    elif records:
        writer = csv.writer(stream)
        if has_heading:
            writer.writerow(records[0])
        writer.writerows([_csv_cell(value) for value in record.values()] for record in records)


def write_report(report: Record, form: str, stream: TextIO, *, width: int | None = None) -> None:
    """Print one object with its facts; a fact that is a list of records is a table of its own."""
    if form == TABLE:
        facts = {name: value for name, value in report.items() if not _is_records(value)}
        longest = max((len(_heading(name)) for name in facts), default=0)
        for name, value in facts.items():
            line = f"{_heading(name).ljust(longest)}{_GAP}{_cell(value)}".rstrip()
            stream.write((line if width is None else _shortened(line, width)) + "\n")
        for name, value in report.items():
            if _is_records(value):
                assert isinstance(value, list)
                stream.write(f"\n{_heading(name)}\n{table(value, width)}")
    elif form in (JSON, NDJSON):
        indent = 2 if form == JSON else None
        stream.write(_json(report, indent=indent) + "\n")
    elif form == YAML:
        stream.write("\n".join(_yaml_lines(report, "")) + "\n")
    else:
        rows = [{"name": name, "value": _csv_cell(value)} for name, value in report.items()]
        write_records(rows, CSV, stream)


def table(records: Sequence[Record], width: int | None = None) -> str:
    """Format a table: columns as wide as needed, cut where that is too wide; numbers right-aligned,
    headings in capitals."""
    names = list(records[0])
    rows = [[_cell(record[name]) for name in names] for record in records]
    headings = [_heading(name) for name in names]
    widths = [
        max(map(_width, (heading, *(row[at] for row in rows))))
        for at, heading in enumerate(headings)
    ]
    is_number = [_are_numbers([record[name] for record in records]) for name in names]
    if width is not None:
        is_whole = [
            number or any(isinstance(record[name], Whole) for record in records)
            for number, name in zip(is_number, names, strict=True)
        ]
        _narrow(widths, is_whole, width)
    lines = []
    for row in (headings, *rows):
        cells = [
            _padded(_shortened(cell, wide), wide, is_right)
            for cell, wide, is_right in zip(row, widths, is_number, strict=True)
        ]
        line = _GAP.join(cells).rstrip()
        lines.append(line if width is None else _shortened(line, width))
    return "\n".join(lines) + "\n"


def write_error(error: AerobeeError, form: str, stream: TextIO) -> int:
    """Print an error; returns the exit status."""
    hint = error.hint or next((text for kind, text in _HINTS if isinstance(error, kind)), "")
    said = {"code": type(error).__name__, "message": error.message, "hint": hint}
    if form == TABLE:
        stream.write(f"aerobee: {error.message}\n  code: {said['code']}\n")
        if hint:
            stream.write(f"  hint: {hint}\n")
    elif form in (JSON, NDJSON):
        stream.write(_json(said) + "\n")
    elif form == YAML:
        stream.write("\n".join(_yaml_lines(said, "")) + "\n")
    else:
        write_records([said], CSV, stream)
    return _status(error)


def one_line(text: str) -> str:
    """Return a text on one line, without control characters, safe for a terminal."""
    return text.translate(_CONTROLS)


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a person is there, who can be asked and shown colours."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO, *, is_wide: bool) -> int | None:
    """Return the maximal width of a table there; None: unlimited."""
    if is_wide or not stream.isatty():
        return None
    return shutil.get_terminal_size().columns


def _status(error: AerobeeError) -> int:
    if isinstance(error, WrongUse):
        return WRONG_USE
    if isinstance(error, NotFound | TopicNotFound):
        return NOT_FOUND
    if isinstance(error, RemoteAnswer) and error.code in _NOT_FOUND_ANSWERS:
        return NOT_FOUND
    return FAILED


def _heading(name: str) -> str:
    return name.replace("_per_s", "/s").replace("_", " ").upper()


def _cell(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Instant):
        return value.brief()
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={text}" for name, text in value.items()) or "-"
    return one_line(str(value))


def _csv_cell(value: object) -> object:
    """Return a cell: a scalar, or JSON of a list or an object."""
    if value is None:
        return ""
    if isinstance(value, bool | list | tuple | Mapping):
        return _json(value)
    return value


def _are_numbers(values: Sequence[object]) -> bool:
    """Whether all values of a column that are not empty are numbers."""
    there = [value for value in values if value is not None]
    return bool(there) and all(type(value) in (int, float) for value in there)


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _json(value: object, *, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _finite(value: object) -> object:
    """Replace NaN and infinity by null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _yaml(records: Sequence[Record]) -> str:
    if not records:
        return "[]\n"
    return "\n".join(line for record in records for line in _yaml_item(record, "")) + "\n"


def _yaml_item(record: Record, lead: str) -> list[str]:
    lines = _yaml_lines(record, lead + "  ")
    return [f"{lead}- {lines[0].lstrip()}", *lines[1:]] if lines else [f"{lead}- {{}}"]


def _yaml_lines(record: Record, lead: str) -> list[str]:
    """Format as YAML; a scalar of JSON is one of YAML, too."""
    lines: list[str] = []
    for name, value in record.items():
        key = name if name.replace("_", "").isalnum() else json.dumps(name, ensure_ascii=False)
        if _is_records(value):
            assert isinstance(value, list)
            lines.append(f"{lead}{key}:")
            lines += [line for one in value for line in _yaml_item(one, lead + "  ")]
        else:
            lines.append(f"{lead}{key}: {_json(value)}")
    return lines


def _narrow(widths: list[int], is_whole: Sequence[bool], width: int) -> None:
    """Narrow the widest text column, again and again, until all fit or none can be cut further."""
    left = width - len(_GAP) * (len(widths) - 1)
    while (excess := sum(widths) - left) > 0:
        texts = [at for at, whole in enumerate(is_whole) if not whole]
        texts.sort(key=lambda at: widths[at], reverse=True)
        if not texts or widths[texts[0]] <= _NARROWEST:
            return
        next_widest = widths[texts[1]] if len(texts) > 1 else _NARROWEST
        room = widths[texts[0]] - max(next_widest, _NARROWEST)
        widths[texts[0]] -= min(excess, max(room, 1))


def _shortened(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept = 0
    for at, char in enumerate(text):
        kept += _width(char)
        if kept > width - 1:
            return text[:at] + _CUT
    return text


def _width(text: str) -> int:
    """Return the width on a terminal: some characters take two columns, some none."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1
        for char in text
    )


def _padded(text: str, width: int, is_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if is_right else text + space
