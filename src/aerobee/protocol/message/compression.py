"""Message bodies ⇄ compressed bodies: a zlib stream, an LZ4 frame or a zstd frame.

Laws. A broker stores what it was given and never comes here. Expanding is bounded: a body that
would grow beyond `bytes_max` is refused as soon as it does, and no more than twice that bound is
ever allocated for it (libraries gather pieces, then join them). A compressed body is exactly one
whole stream or frame: cut short, or followed by anything, it is refused.

lz4 and zstandard are extras, imported at the first body that needs them.
"""

import importlib
import zlib
from types import ModuleType

from aerobee.errors import Misuse, RemoteProtocolError
from aerobee.model.flags import CompressionType, compression_type

EXPANDED_BYTES_MAX = 4 * 1024 * 1024  # the largest body a broker takes by default
EXPANDED_BYTES_HARD_MAX = 64 * 1024 * 1024
LEVEL = 5  # the Java client's


def compress(body: bytes, kind: CompressionType, *, level: int = LEVEL) -> bytes:
    """The body as one stream of this kind; set the flag with `flags.with_compression_type`."""
    packed: bytes
    if kind is CompressionType.ZLIB:
        packed = zlib.compress(body, level)
    elif kind is CompressionType.LZ4:
        packed = _lz4().compress(body, compression_level=level)
    else:
        packed = _zstandard().ZstdCompressor(level=level).compress(body)
    return packed


def decompress(body: bytes, sys_flag: int, *, bytes_max: int = EXPANDED_BYTES_MAX) -> bytes:
    """The body as its sender wrote it: itself unless the flag says that it is compressed."""
    if not 0 <= bytes_max <= EXPANDED_BYTES_HARD_MAX:
        raise Misuse(f"bytes_max={bytes_max} is not within 0…{EXPANDED_BYTES_HARD_MAX}")
    kind = compression_type(sys_flag)
    if kind is None:
        return body
    if kind is CompressionType.ZLIB:
        return _expand_zlib(body, bytes_max)
    if kind is CompressionType.LZ4:
        return _expand_lz4(body, bytes_max)
    return _expand_zstd(body, bytes_max)


def _expand_zlib(body: bytes, bytes_max: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        # One byte more than allowed, to tell "exactly full" from "too much".
        expanded = stream.decompress(body, bytes_max + 1)
    except zlib.error as error:
        raise RemoteProtocolError(f"a body that is no zlib stream: {error}") from None
    _check_end("zlib stream", len(expanded), bytes_max, stream.eof, stream.unused_data)
    return expanded


def _expand_lz4(body: bytes, bytes_max: int) -> bytes:
    frame = _lz4().LZ4FrameDecompressor()
    try:
        expanded: bytes = frame.decompress(body, bytes_max + 1)
    except (RuntimeError, EOFError) as error:
        raise RemoteProtocolError(f"a body that is no LZ4 frame: {error}") from None
    _check_end("LZ4 frame", len(expanded), bytes_max, frame.eof, frame.unused_data)
    return expanded


def _expand_zstd(body: bytes, bytes_max: int) -> bytes:
    library = _zstandard()
    try:
        # The library allocates whatever size the frame claims, so the claim is judged first.
        claimed = library.get_frame_parameters(body).content_size
        if claimed != library.CONTENTSIZE_UNKNOWN and claimed > bytes_max:
            raise RemoteProtocolError(f"a body that expands to more than {bytes_max} bytes")
        # A large window (level 22 asks for 128 MiB, the most that the library grants) is only
        # reserved: its pages are touched as far as the body grows, which is bounded.
        expanded: bytes = library.ZstdDecompressor().decompress(
            body, max_output_size=bytes_max + 1, allow_extra_data=False
        )
    except library.ZstdError as error:
        raise RemoteProtocolError(
            f"a body that is no zstd frame of at most {bytes_max} bytes: {error}"
        ) from None
    _check_end("zstd frame", len(expanded), bytes_max, True, b"")
    return expanded


def _check_end(kind: str, size: int, bytes_max: int, is_whole: bool, rest: bytes | None) -> None:
    if size > bytes_max:
        raise RemoteProtocolError(f"a body that expands to more than {bytes_max} bytes")
    if not is_whole:
        raise RemoteProtocolError(f"a body that ends before its {kind} does")
    if rest:
        raise RemoteProtocolError(f"a body with {len(rest)} bytes after its {kind}")


def _lz4() -> ModuleType:
    return _extra("lz4.frame", "lz4")


def _zstandard() -> ModuleType:
    return _extra("zstandard", "zstd")


def _extra(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Misuse(
            f"{module} is not installed, and a body is compressed with it",
            hint=f"pip install aerobee[{extra}]",
        ) from None
