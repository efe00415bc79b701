"""Finds the folders of queues, `{directory}/{topic}/{queue id}`, in `consumequeue`,
`batchconsumequeue` and among the files that compaction keeps.

Any other name in such a directory is left alone.
"""

from collections.abc import Iterator

from aerobee.ports.disk import Disk

QUEUE_ID_MAX = 4095  # every id makes a folder: an id of 2**30 must not

_TOPIC_BYTES = frozenset(b"%|+-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def topic_byte_table() -> bytes:
    """For each of 256 bytes, 1 if a topic may have it."""
    return bytes(value in _TOPIC_BYTES for value in range(256))


def is_folder_name(topic: bytes) -> bool:
    """Whether a topic can be a folder: RocketMQ's characters only, so never a path."""
    return 0 < len(topic) <= 255 and _TOPIC_BYTES.issuperset(topic)


def topic_folders(disk: Disk, directory: str) -> Iterator[str]:
    """The topics that have a folder."""
    for topic in disk.list_directory(directory):
        # The system's names may be bytes that are no text: they do not encode.
        if topic.isascii() and is_folder_name(topic.encode()):
            yield topic


def queue_folders(disk: Disk, directory: str) -> Iterator[tuple[bytes, int]]:
    """The queues that have a folder: topic and queue id."""
    for topic in topic_folders(disk, directory):
        for text in disk.list_directory(f"{directory}/{topic}"):
            if text.isascii() and text.isdigit() and int(text) <= QUEUE_ID_MAX:
                yield topic.encode(), int(text)
