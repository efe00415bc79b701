import gc
import subprocess
import sys
import tracemalloc
import zlib
from functools import cache

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard

from aerobee.errors import Misuse, RemoteProtocolError
from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.protocol.message.compression import (
    EXPANDED_BYTES_HARD_MAX,
    EXPANDED_BYTES_MAX,
    compress,
    decompress,
)

BODY = b"one log slot server index tag offset flush " * 200
KINDS = list(CompressionType)
MIB = 1024 * 1024


def flagged(kind: CompressionType) -> int:
    return with_compression_type(0, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [b"", b"x", BODY, bytes(EXPANDED_BYTES_MAX)])
def test_a_body_comes_back_as_it_was(kind: CompressionType, body: bytes) -> None:
    assert decompress(compress(body, kind), flagged(kind)) == body


def test_a_body_that_is_not_flagged_is_left_alone() -> None:
    assert decompress(BODY, 0x300) is BODY


def test_old_clients_mean_zlib_when_they_give_no_type() -> None:
    assert decompress(zlib.compress(BODY), 0x1) == BODY


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_the_largest_size_that_passes(kind: CompressionType) -> None:
    packed = compress(BODY, kind)
    assert decompress(packed, flagged(kind), bytes_max=len(BODY)) == BODY
    # One byte too little, and the bound that libraries take for "no bound".
    for bytes_max in (len(BODY) - 1, 0):
        with pytest.raises(RemoteProtocolError, match=f"more than {bytes_max} bytes"):
            decompress(packed, flagged(kind), bytes_max=bytes_max)


@cache
def bombs() -> dict[str, tuple[bytes, CompressionType]]:
    """A few KiB each that claim, or grow to, 16 MiB and more."""
    zeros = bytes(16 * MIB)
    unsized = zstandard.ZstdCompressor(write_content_size=False)
    # A zstd frame that claims 2^60 bytes and a window to match, and holds one byte.
    claim = bytes.fromhex("28b52ffd") + b"\xe0" + (1 << 60).to_bytes(8, "little") + b"\x09\0\0x"
    return {
        "zlib": (zlib.compress(zeros, 9), CompressionType.ZLIB),
        "lz4": (lz4.frame.compress(zeros), CompressionType.LZ4),
        "lz4 sized": (lz4.frame.compress(zeros, store_size=True), CompressionType.LZ4),
        "zstd sized": (zstandard.compress(zeros), CompressionType.ZSTD),
        "zstd unsized": (unsized.compress(zeros), CompressionType.ZSTD),
        "zstd claim": (claim, CompressionType.ZSTD),
    }


@pytest.mark.parametrize(
    "name", ["zlib", "lz4", "lz4 sized", "zstd sized", "zstd unsized", "zstd claim"]
)
def test_a_bomb_is_refused_before_it_takes_more_than_twice_the_bound(name: str) -> None:
    packed, kind = bombs()[name]
    decompress(compress(b"x", kind), flagged(kind))  # the library itself is loaded by now
    gc.collect()
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError):
            decompress(packed, flagged(kind))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * EXPANDED_BYTES_MAX + MIB


def zstd_frame(window_log: int) -> bytes:
    """One stored byte behind a header that gives no size but asks for this window."""
    return bytes.fromhex("28b52ffd00") + bytes([window_log - 10 << 3]) + b"\x09\x00\x00x"


def test_a_zstd_window_is_granted_up_to_what_level_22_asks_for() -> None:
    assert decompress(zstd_frame(27), flagged(CompressionType.ZSTD)) == b"x"
    with pytest.raises(RemoteProtocolError, match="too much memory"):
        decompress(zstd_frame(28), flagged(CompressionType.ZSTD))


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_cut_short_is_refused_at_every_byte(kind: CompressionType) -> None:
    packed = compress(b"abcabcabcabc", kind)
    for size in range(len(packed)):
        with pytest.raises(RemoteProtocolError):
            decompress(packed[:size], flagged(kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rest", [b"x", b"\x00" * 16])
def test_anything_after_the_stream_is_refused(kind: CompressionType, rest: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decompress(compress(BODY, kind) + rest, flagged(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_plain_text_flagged_as_compressed_is_refused(kind: CompressionType) -> None:
    with pytest.raises(RemoteProtocolError):
        decompress(BODY, flagged(kind))


@pytest.mark.parametrize("bytes_max", [-1, EXPANDED_BYTES_HARD_MAX + 1])
def test_nobody_may_ask_for_more_than_the_hard_limit(bytes_max: int) -> None:
    with pytest.raises(Misuse, match="bytes_max"):
        decompress(BODY, 0, bytes_max=bytes_max)


@pytest.mark.parametrize(
    ("module", "flag", "hint"),
    [("lz4", "0x101", "aerobee[lz4]"), ("zstandard", "0x201", "aerobee[zstd]")],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    module: str, flag: str, hint: str
) -> None:
    # In a process of its own: an import that has succeeded cannot be made to fail again here.
    program = f"""
import sys
sys.modules[{module!r}] = None
from aerobee.errors import Misuse
from aerobee.protocol.message.compression import decompress
try:
    decompress(b"x", {flag})
except Misuse as error:
    print(error.hint)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == f"pip install {hint}"
