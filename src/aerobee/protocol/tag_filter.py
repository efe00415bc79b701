"""A consumer's choice of tags: `*`, or tags with `||` between them.

A broker compares the hash of a message's tag, which the consume queue holds, and clients compare
the tag itself: one message too many does no harm, one too few would be lost to the consumer.
"""

from aerobee.protocol.java_hash import tag_code

ALL = "*"


def tags_of(expression: str) -> tuple[str, ...]:
    """The tags that an expression names, each once; none: every message is wanted."""
    if not expression or expression == ALL:
        return ()
    tags = (tag.strip() for tag in expression.split("||"))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def tag_codes(expression: str) -> frozenset[int] | None:
    """The hashes of an expression's tags; None: every message is wanted."""
    tags = tags_of(expression)
    return frozenset(tag_code(tag.encode()) for tag in tags) if tags else None
