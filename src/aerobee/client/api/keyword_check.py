"""`check_keywords` refuses unknown keyword arguments and suggests the one that was probably meant.

A type checker finds the same mistake earlier; without one, a misspelt `keys` or `tag` would only be
missing from the stored message.
"""

from collections.abc import Collection, Iterable

from aerobee.errors import Misuse


def check_keywords(said: Iterable[str], known: Collection[str], verb: str) -> None:
    """Raise Misuse for the first keyword that is not known."""
    for name in said:
        if name not in known:
            raise Misuse(f"{verb} takes no {name}=", hint=_hint(name, known))


def _hint(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # 5 ms that nobody waits for who makes no mistake

    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}=?"
    return "it takes " + ", ".join(sorted(known))
