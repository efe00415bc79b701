"""Files that sub-commands read and write: lists of topics and groups, exports, bodies, credentials.

Without a given path, files go to `rocketmq` in the system's folder for temporary files, as with
RocketMQ's tool. Credentials are those of RocketMQ's file `conf/tools.yml` in $ROCKETMQ_HOME:

    accessKey: alice
    secretKey: …
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from aerobee.errors import Misuse, ProtocolError
from aerobee.model.access import Credentials
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_pretty

_HOME = "rocketmq"
_CREDENTIAL = re.compile(r"""(accessKey|secretKey)\s*:\s*["']?(.*?)["']?\s*""")


def read_bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Misuse(f"the file path {name} cannot be read: {error.strerror}") from None


def read_json_list(name: str) -> list[Members]:
    """Return the objects of a JSON array in a file."""
    content = read_bytes(name)
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


def write_mapping(name: str, content: bytes) -> str:
    """Write mapping data of a static topic to the system's folder for temporary files; returns its
    path."""
    path = Path(tempfile.gettempdir()) / name
    _write(path, content)
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


def credentials_in(environment: Mapping[str, str]) -> Credentials | None:
    """Read the credentials; None: there is no file or a key is empty, and requests are not signed,
    as by RocketMQ's own tool."""
    home = environment.get("ROCKETMQ_HOME", "")
    path = Path(home, "conf", "tools.yml")
    if not home or not path.exists():
        return None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{path} cannot be read: {error}") from None
    matches = [match for line in lines if (match := _CREDENTIAL.fullmatch(line))]
    found = {match[1]: match[2] for match in matches}
    key, secret = found.get("accessKey", ""), found.get("secretKey", "")
    return Credentials(key, secret) if key and secret else None
