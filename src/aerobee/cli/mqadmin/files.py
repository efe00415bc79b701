"""Files that sub-commands read and write: lists of topics and groups, exports, bodies.

Without a given path, files go to `rocketmq` in the system's folder for temporary files, as with
RocketMQ's tool.
"""

import tempfile
from pathlib import Path

from aerobee.errors import Misuse, ProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_pretty

_HOME = "rocketmq"


def read_json_list(name: str) -> list[Members]:
    """Return the objects of a JSON array in a file."""
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise Misuse(f"the file path {name} cannot be read: {error.strerror}") from None
    try:
        rows = parse(content)
        if not isinstance(rows, list) or not rows:
            raise Misuse(f"{name} holds no list", hint="it takes a JSON array of objects")
        return [Members(row, f"an item of {name}") for row in rows]
    except ProtocolError as error:
        raise Misuse(f"{name}: {error.message}") from None


def export_folder(given: str) -> str:
    return given or str(Path(tempfile.gettempdir()) / _HOME / "export")


def write_export(folder: str, name: str, value: Value) -> str:
    """Write an export; returns its path."""
    path = Path(folder) / name
    _write(path, write_pretty(value))
    return f"{folder}/{name}"


def write_body(name: str, body: bytes) -> str:
    """Write a message's body; returns its path."""
    path = Path(tempfile.gettempdir()) / _HOME / "msgbodys" / name
    _write(path, body)
    return str(path)


def write_text(name: str, text: str) -> None:
    _write(Path(name), text.encode())


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise Misuse(
            f"{path} cannot be written: {error.strerror}", hint="choose another folder"
        ) from None
