"""Frames of a producer as the Java client writes them, in reads of 64 KiB.

Every message has a unique id of its own, as in life: a key index that sees the same keys again and
again stays in the processor's cache and looks faster than it is.
"""

import struct

READ_BYTES = 64 * 1024
TOPIC = b"TopicBench"
QUEUES = 4
BATCH = 32

_HEADER = (
    '{{"code":{code},"extFields":{{"a":"bench-group","b":"TopicBench","c":"TBW102","d":"4",'
    '"e":"{queue}","f":"0","g":"1794732382394","h":"0","i":"{properties}","j":"0","k":"false",'
    '"m":"{batch}","n":"broker-a"}},"flag":0,"language":"JAVA","opaque":{opaque},'
    '"serializeTypeCurrentRPC":"JSON","version":513}}'
)
_ESCAPED = (
    "KEYS\\u0001order-{n}\\u0002UNIQ_KEY\\u0001{unique}\\u0002"
    "WAIT\\u0001true\\u0002TAGS\\u0001TagA\\u0002"
)
_PLAIN = b"UNIQ_KEY\x01%s\x02WAIT\x01true\x02"


def unique_id(n: int) -> str:
    """32 digits whose hash is spread over the slots: real ids differ in process and counter."""
    return f"C0000202{n * 2654435761 % 2**32:08X}2F2A{n:012X}"


def reads_of_singles(first: int, count: int, body_size: int) -> list[bytes]:
    """`count` messages, each in a frame of its own."""
    body = b"x" * body_size
    return _in_reads(
        [
            _frame(
                _HEADER.format(
                    code=310,
                    queue=n % QUEUES,
                    properties=_ESCAPED.format(n=n, unique=unique_id(n)),
                    batch="false",
                    opaque=n & 0x7FFFFFFF,
                ),
                body,
            )
            for n in range(first, first + count)
        ]
    )


def reads_of_batches(first: int, count: int, body_size: int) -> list[bytes]:
    """`count` messages, `BATCH` to a frame."""
    body = b"x" * body_size
    frames = []
    for start in range(first, first + count, BATCH):
        entries = b"".join(_entry(n, body) for n in range(start, start + BATCH))
        header = _HEADER.format(
            code=320,
            queue=start // BATCH % QUEUES,
            properties="WAIT\\u0001true\\u0002",
            batch="true",
            opaque=start & 0x7FFFFFFF,
        )
        frames.append(_frame(header, entries))
    return _in_reads(frames)


def _entry(n: int, body: bytes) -> bytes:
    properties = _PLAIN % unique_id(n).encode()
    return (
        struct.pack(">iiiii", 22 + len(body) + len(properties), 0, 0, 0, len(body))
        + body
        + struct.pack(">h", len(properties))
        + properties
    )


def _frame(header: str, body: bytes) -> bytes:
    text = header.encode()
    return struct.pack(">ii", 4 + len(text) + len(body), len(text)) + text + body


def _in_reads(frames: list[bytes]) -> list[bytes]:
    """The stream cut where a socket would cut it: anywhere, not between frames."""
    stream = b"".join(frames)
    return [stream[at : at + READ_BYTES] for at in range(0, len(stream), READ_BYTES)]
