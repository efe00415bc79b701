"""A catalogue: the clients of one protocol, what is tried with each, what one does not offer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

Pair = tuple[str, str]
"""Client, feature."""


@dataclass(frozen=True)
class Catalogue:
    name: str
    """Of the protocol, as docs/clients.md has it in the markers of its table."""
    clients: Mapping[str, str]
    features: Mapping[str, str]
    not_offered: Mapping[Pair, str]
    """From the packages themselves: why a client cannot do it."""
    apache_fails: Mapping[Pair, str]
    """What Apache's own server gets wrong with a client, and ours does not."""
    slow: Collection[Pair]
    """What takes 20 s or more, or tools that not every machine has: not part of every run."""

    def is_offered(self, client: str, feature: str) -> bool:
        return (client, feature) not in self.not_offered
