"""Warns of secrets in the words of a command line, which every user of the machine can see (`ps`).

A word has one if it is an address with a login (`rmq://key:secret@host:9876`), or the value of
`--password` and its like.
"""

import re
from collections.abc import Sequence
from typing import TextIO

_LOGIN = re.compile(r"://[^/@\s:]*:[^@\s]+@")
_OPTION = re.compile(r"--?(?:password|secret|secret-?key)(=.*)?", re.I)
_SAID = "a secret is in the arguments, where other users of this machine can see it"
OF_ADDRESS = (
    "keep the address under a name: `aerobee context add NAME -` reads it from standard input"
)
OF_OPTION = "`aerobee auth create-user NAME --password-file -` reads it from standard input"


def find_secret(words: Sequence[str]) -> str | None:
    """What to do instead of giving the secret that is in a word, or is one; None: none is there."""
    for at, word in enumerate(words):
        option = _OPTION.fullmatch(word)
        if option is not None and (option[1] or words[at + 1 : at + 2]):
            return OF_OPTION
        if _LOGIN.search(word):
            return OF_ADDRESS
    return None


def warn(hint: str, stream: TextIO) -> None:
    """Say that a secret can be seen, and what to do instead."""
    stream.write(f"aerobee: warning: {_SAID}\n  hint: {hint}\n")
