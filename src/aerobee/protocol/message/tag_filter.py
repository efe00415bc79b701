"""A consumer's choice of tags: `*`, or tags with `||` between them.

A broker compares the hash of a message's tag, which the consume queue holds, and clients compare
the tag itself: one message too many does no harm, one too few would be lost to the consumer.
"""

from aerobee.protocol.primitives.java_hash import tag_code

ALL = "*"
TAGS_MAX = 1_000
"""Of one expression: each is kept, and looked for at every message."""
EXPRESSION_CHARS_MAX = 16 * 1024


def find_expression_fault(expression: str) -> str | None:
    """The fault of an expression; None if it has none."""
    if len(expression) > EXPRESSION_CHARS_MAX:
        return f"{len(expression)} characters, at most {EXPRESSION_CHARS_MAX} are read"
    count = expression.count("||") + 1
    return f"{count} tags, at most {TAGS_MAX} are" if count > TAGS_MAX else None


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
