"""Keywords that nothing takes: said with the one that was probably meant.

A type checker says the same before; whoever has none must not find out by a key or a tag that is
missing from a stored message.
"""

from collections.abc import Collection, Iterable

from aerobee.errors import Misuse


def check_keywords(said: Iterable[str], known: Collection[str], verb: str) -> None:
    """Misuse for the first of those that were said and are not known."""
    for name in said:
        if name not in known:
            raise Misuse(f"{verb} takes no {name}=", hint=_hint(name, known))


def _hint(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # 5 ms that nobody waits for who makes no mistake

    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}=?"
    return "it takes " + ", ".join(sorted(known))
