"""Settings on the command line: `KEY=VALUE` words, the settings of running servers as records, and
the effect of a change.

Shared by the commands that read and change settings: of brokers, name servers and topics.
"""

from collections.abc import Iterable

from aerobee.cli.output import Record, WrongUse
from aerobee.errors import NotFound


def pairs_in(texts: list[str], flag: str) -> dict[str, str]:
    """`name=value`, as flags say it."""
    found = {}
    for text in texts:
        name, divided, value = text.partition("=")
        if not divided or not name:
            raise WrongUse(f"{flag} {text!r} has no name and value", hint=f"say {flag} name=value")
        found[name] = value
    return found


def setting_records(whose: str, found: dict[str, dict[str, str]], keys: list[str]) -> list[Record]:
    """Settings of several servers; NotFound: none of them has a key."""
    check_keys(whose, keys, found)
    return [
        {whose: name, "key": key, "value": value}
        for name, settings in sorted(found.items())
        for key, value in sorted(settings.items())
        if not keys or key in keys
    ]


def check_keys(
    whose: str,
    keys: Iterable[str],
    found: dict[str, dict[str, str]],
    *,
    is_only_misspelt: bool = False,
) -> None:
    """NotFound: none of these servers has a setting of that name. `is_only_misspelt`: servers do
    not show all of them, so one that is like none is theirs to refuse."""
    known = {key for settings in found.values() for key in settings}
    for key in keys:
        if key not in known:
            from difflib import get_close_matches  # 5 ms that nobody waits for who is right

            near = get_close_matches(key, known, n=1, cutoff=0.8)
            if is_only_misspelt and not near:
                continue
            meant = f"did you mean {near[0]}? " if near else ""
            raise NotFound(
                f"no {whose} has a setting {key!r}",
                hint=f"{meant}`aerobee config list {whose}` lists all",
            )


def shown_changes(changes: dict[str, str], known: dict[str, dict[str, str]]) -> str:
    """What would be changed, with what it is now."""
    if not changes:
        raise WrongUse("nothing is to be changed")
    parts = []
    for key, value in changes.items():
        before = sorted({settings.get(key, "unset") for settings in known.values()})
        parts.append(f"{key} from {' and '.join(before)} to {value}")
    return ", ".join(parts)
