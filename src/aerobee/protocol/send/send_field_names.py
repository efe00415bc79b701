"""Names in the headers of SEND_MESSAGE and its kin, as small numbers.

SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE call their fields by one letter, SEND_MESSAGE by a long
name; both mean the same, so the letter stands for either. These are the Python originals; the C
twins are in `send_machine.pxd`.
"""

TOP_NAMES = {
    b"code": 1,
    b"flag": 2,
    b"opaque": 3,
    b"version": 4,
    b"language": 5,
    b"remark": 6,
    b"serializeTypeCurrentRPC": 7,
    b"extFields": 8,
}
LETTERS = {
    b"producerGroup": ord("a"),
    b"topic": ord("b"),
    b"defaultTopic": ord("c"),
    b"defaultTopicQueueNums": ord("d"),
    b"queueId": ord("e"),
    b"sysFlag": ord("f"),
    b"bornTimestamp": ord("g"),
    b"flag": ord("h"),
    b"properties": ord("i"),
    b"reconsumeTimes": ord("j"),
    b"unitMode": ord("k"),
    b"maxReconsumeTimes": ord("l"),
    b"batch": ord("m"),
    b"bname": ord("n"),
}


def top_name(memory: memoryview, position: int, size: int) -> int:
    """The number of a top-level key of the JSON form, or 0."""
    return TOP_NAMES.get(bytes(memory[position : position + size]), 0)


def long_name(memory: memoryview, position: int, size: int) -> int:
    """The letter for a field name of SEND_MESSAGE, or 0."""
    return LETTERS.get(bytes(memory[position : position + size]), 0)


def short_name(memory: memoryview, position: int, size: int) -> int:
    """The letter for a field name of SEND_MESSAGE_V2, or 0."""
    return memory[position] if size == 1 and 0x61 <= memory[position] <= 0x6E else 0


def memory_part(memory: memoryview, position: int, end: int) -> memoryview:
    """The memory that begins at a position."""
    return memory[position:end]
