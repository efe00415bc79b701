"""Namespaces as RocketMQ's clients write them: a prefix of every topic and group.

    orders            → shop%orders
    %RETRY%billing    → %RETRY%shop%billing

System topics (TBW102, SCHEDULE_TOPIC_XXXX …) stay as they are: they belong to no namespace.
"""

from aerobee.model.names import (
    DEAD_LETTER_PREFIX,
    RETRY_PREFIX,
    SYSTEM_TOPIC_PREFIX,
    SYSTEM_TOPICS,
    is_system_group,
)

SEPARATOR = "%"
_PREFIXES = (RETRY_PREFIX, DEAD_LETTER_PREFIX)


def with_namespace(namespace: str, name: str) -> str:
    """The name of a topic or group on the wire."""
    if not namespace or _is_systems_own(name):
        return name
    kind, rest = _split(name)
    return name if rest.startswith(namespace + SEPARATOR) else f"{kind}{namespace}%{rest}"


def without_namespace(namespace: str, name: str) -> str:
    """The application's name of a topic or group."""
    kind, rest = _split(name)
    return kind + rest.removeprefix(namespace + SEPARATOR) if namespace else name


def _is_systems_own(name: str) -> bool:
    return name in SYSTEM_TOPICS or name.startswith(SYSTEM_TOPIC_PREFIX) or is_system_group(name)


def _split(name: str) -> tuple[str, str]:
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return prefix, name[len(prefix) :]
    return "", name
