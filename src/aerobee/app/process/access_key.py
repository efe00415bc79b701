"""The key file of a broker: the key under which the passwords of its users are stored.

It is made at the first start, of random bytes, readable by its owner alone. A file that others may
read is refused: whoever has it and a copy of the store has the passwords.
"""

import contextlib
import os
import secrets
import stat

from aerobee.app.process.lifecycle import CannotStart
from aerobee.service.access.sealing import KEY_BYTES

_MODE = 0o600


def read_access_key(path: str) -> bytes:
    """Read the key, or make one if there is none. CannotStart: others may read it, or it is no
    key."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _make(path)
        with open(path, encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(2 * KEY_BYTES + 2).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(f"the key file {path} cannot be read: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise CannotStart(
            f"the key file {path} can be read by others: its mode is {stat.S_IMODE(mode):04o}",
            hint=f"chmod 600 {path}",
        )
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise CannotStart(f"the key file {path} has no key: {KEY_BYTES} bytes in hexadecimal")
    return key


def _make(path: str) -> None:
    """Make the file whole or not at all."""
    fresh = f"{path}.{os.getpid()}.new"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, path)  # fails if there is one by now
    finally:
        os.unlink(fresh)
