"""Passwords as scrypt hashes: made and compared in a small pool of threads.

    scrypt$16384$8$1$SALT$HASH        salt and hash in base64

One hash takes 16 MiB and some 70 ms of a core. Two threads at most compute them, so that a flood
of log-ins neither stops the event loop nor fills the memory.
"""

import asyncio
import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor

COST = 2**14
BLOCK = 8
PARALLEL = 1
_MEMORY = 64 << 20
_SALT_BYTES = 16
_THREADS = 2
_WORD = "scrypt"


def hash_of(password: str, *, cost: int = COST) -> str:
    """Return the text to keep of a password."""
    salt = secrets.token_bytes(_SALT_BYTES)
    made = _scrypt(password, salt, cost, BLOCK, PARALLEL)
    parts = (_WORD, str(cost), str(BLOCK), str(PARALLEL), *map(_text, (salt, made)))
    return "$".join(parts)


def is_password(password: str, kept: str) -> bool:
    """Whether a password is the one that a text was kept of."""
    word, cost, block, parallel, salt, wanted = kept.split("$")
    if word != _WORD:
        return False
    made = _scrypt(password, b64decode(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(made, b64decode(wanted))


def random_password() -> str:
    return secrets.token_urlsafe(15)


class PasswordPool:
    """Compares passwords beside the event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "console-password")

    async def is_password(self, password: str, kept: str) -> bool:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, is_password, password, kept)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


def _scrypt(password: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=cost, r=block, p=parallel, maxmem=_MEMORY, dklen=32
    )


def _text(data: bytes) -> str:
    return b64encode(data).decode()
