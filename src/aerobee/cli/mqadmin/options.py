"""Parser of a sub-command's flags.

It accepts the forms of RocketMQ's tool, so that commands in runbooks keep working:

    -t orders   -torders   --topic orders   --topic=orders   -topic orders

O1. A long name may be abbreviated where that is unambiguous.
O2. The word after a flag is its value, whatever it looks like: offsets may be -1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from aerobee.errors import Misuse


class Option(NamedTuple):
    short: str
    long: str
    text: str
    is_required: bool = False
    is_switch: bool = False
    """It has no value."""

    @property
    def shown(self) -> str:
        """The name of the option in help and errors."""
        return f"-{self.short} (--{self.long})" if self.short else f"--{self.long}"


HELP = Option("h", "help", "say what the sub-command takes", is_switch=True)
NAME_SERVER = Option("n", "namesrvAddr", "name servers, with ; in between")


class Given:
    """The given values, by the long names of options. An invalid value is Misuse."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self._said = said

    def __contains__(self, name: str) -> bool:
        return name in self._said

    def text(self, name: str, default: str = "") -> str:
        return self._said.get(name, default).strip()

    def number(self, name: str, default: int = 0) -> int:
        said = self.text(name)
        if not said:
            return default
        try:
            return int(said)
        except ValueError:
            raise Misuse(f"--{name} takes a whole number, not {said!r}") from None

    def is_true(self, name: str, default: bool = False) -> bool:
        """RocketMQ's tool takes everything but `true` as false."""
        return self.text(name).lower() == "true" if name in self._said else default

    def one_of(self, *names: str) -> str:
        """Return which of these options was given; one must be."""
        for name in names:
            if name in self._said:
                return name
        flags = " or ".join(f"--{name}" for name in names)
        raise Misuse(f"one of {flags} is needed")


def read(options: Iterable[Option], words: Sequence[str]) -> Given:
    """Parse the words. Misuse names the first that is not understood."""
    known = (*options, NAME_SERVER, HELP)
    said: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        option, value = _find(known, word)
        if option.is_switch:
            said[option.long] = "true"
            continue
        if value is None:
            if at == len(words):
                raise Misuse(f"{option.shown} takes a value")
            value = words[at]
            at += 1
        said[option.long] = value
    if HELP.long not in said:
        missing = [one.shown for one in known if one.is_required and one.long not in said]
        if missing:
            raise Misuse(f"{', '.join(missing)} must be given")
    return Given(said)


def _find(known: Sequence[Option], word: str) -> tuple[Option, str | None]:
    """Return the option of a word, and its value if that is in the same word."""
    if not word.startswith("-") or word == "-":
        raise Misuse(f"{word!r} is no flag")
    name, is_joined, value = word.lstrip("-").partition("=")
    given = value if is_joined else None
    for option in known:
        if name == option.long or (name == option.short and not word.startswith("--")):
            return option, given
    begun = [option for option in known if name and option.long.startswith(name)]
    if len(begun) == 1:
        return begun[0], given
    if len(begun) > 1:
        flags = ", ".join(f"--{option.long}" for option in begun)
        raise Misuse(f"{word!r} may be {flags}")
    if not word.startswith("--"):
        for option in known:
            if option.short and not option.is_switch and word[1:].startswith(option.short):
                return option, word[1 + len(option.short) :]
    raise Misuse(f"there is no flag {word!r}")
