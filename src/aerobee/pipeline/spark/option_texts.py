"""OptionTexts parses options of Spark: text by name, in any case → values; collects all mistakes.

It is one pass over the options of a read or of a write. The caller asks for one option after the
other; errors are collected in `mistakes`, and for an unknown option the most similar one is named.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from aerobee.client.core.target import Target, parse_target
from aerobee.errors import Misuse
from aerobee.model.access import Credentials

V = TypeVar("V")

TRUE = {"true": True, "false": False}
TLS_OPTIONS = ("tls", "tlsCa", "tlsCert", "tlsKey")
CONNECTION_OPTIONS = ("nameServer", "accessKey", "secretKey", *TLS_OPTIONS)
"""Of reads and of writes."""
ROWS_MAX = 10_000
"""Of one Arrow batch. Of usual messages that is a few megabytes: more of them at once fall out of a
core's cache on their way from the decoder to Spark's rows, and take a tenth more CPU."""

_DURATION = re.compile(r"(\d+)\s*(ms|s|m|h)?")
_DURATION_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Spark's own, which reach every source.
_SPARKS = frozenset({"path", "checkpointlocation", "queryname", "__triggeravailablenow"})


class OptionTexts:
    def __init__(
        self, given: Mapping[str, str], known: Sequence[str], elsewhere: Mapping[str, str]
    ) -> None:
        """`known` are the valid names; `elsewhere` tells of other names where they belong."""
        self.mistakes: list[str] = []
        names = {name.lower(): name for name in known}
        others = {name.lower(): why for name, why in elsewhere.items()}
        self._given: dict[str, str] = {}
        for name, text in given.items():
            found = names.get(name.lower())
            if found is not None:
                self._given[found] = text
            elif name.lower() in others:
                self.mistakes.append(f"{name}: {others[name.lower()]}")
            elif name.lower() not in _SPARKS:
                near = difflib.get_close_matches(name.lower(), names, 1)
                meant = f"; was {names[near[0]]} meant?" if near else ""
                self.mistakes.append(f"there is no option {name}{meant}")

    def check(self) -> None:
        """Misuse lists all mistakes that were found."""
        if self.mistakes:
            raise Misuse("; ".join(self.mistakes))

    def has(self, name: str) -> bool:
        return name in self._given

    def said(self, *names: str) -> list[str]:
        """Return those of these options that are given."""
        return [name for name in names if name in self._given]

    # One option.

    def text(self, name: str, absent: str) -> str:
        return self._given.get(name, absent).strip()

    def number(self, name: str, least: int = 1) -> int | None:
        text = self._given.get(name)
        if text is None:
            return None
        if text.strip().isascii() and text.strip().isdigit() and int(text) >= least:
            return int(text)
        self.mistakes.append(f"{name} is a whole number from {least} on, not {text!r}")
        return None

    def duration(self, name: str, absent: float) -> float:
        text = self._given.get(name)
        if text is None:
            return absent
        found = _DURATION.fullmatch(text.strip())
        if found is None:
            self.mistakes.append(f"{name} is a duration like 500ms, 30s or 15m, not {text!r}")
            return absent
        return int(found[1]) * _DURATION_SECONDS[found[2] or "ms"]

    def one_of(
        self, name: str, choices: Mapping[str, V], absent: V, *, besides: Sequence[str] = ()
    ) -> V:
        """Return the value of a choice. `besides` are further choices, for the message only: the
        caller handles them."""
        text = self._given.get(name)
        if text is None:
            return absent
        chosen = {choice.lower(): value for choice, value in choices.items()}.get(
            text.strip().lower()
        )
        if chosen is None:
            listed = ", ".join((*choices, *besides))
            self.mistakes.append(f"{name} is one of {listed}, not {text!r}")
            return absent
        return chosen

    def tried(self, name: str, read: Callable[[str], V], text: str) -> V | None:
        try:
            return read(text)
        except Misuse as error:
            self.mistakes.append(f"{name}: {error}")
            return None

    def refuse(self, names: tuple[str, ...], kind: str) -> None:
        wrong = self.said(*names)
        if wrong:
            self.mistakes.append(f"a {kind} does not take {', '.join(wrong)}")

    def target(self) -> Target | None:
        """Return the cluster and the credentials; None: a mistake was found."""
        text = self._given.get("nameServer")
        if not text:
            self.mistakes.append('the option nameServer is missing: "host:9876;host:9876"')
            return None
        target = self.tried("nameServer", parse_target, text)
        access_key, secret_key = self.text("accessKey", ""), self.text("secretKey", "")
        if bool(access_key) != bool(secret_key):
            self.mistakes.append("accessKey and secretKey go together")
        is_tls = self.one_of("tls", {**TRUE, "on": True, "off": False}, False)
        authority = self.text("tlsCa", "")
        certificate, key = self.text("tlsCert", ""), self.text("tlsKey", "")
        if bool(certificate) != bool(key):
            self.mistakes.append("tlsCert and tlsKey go together")
        if target is None:
            return None
        credentials = Credentials(access_key, secret_key) if access_key else target.credentials
        return replace(
            target,
            credentials=credentials,
            is_tls=target.is_tls or is_tls or bool(authority),
            authority=authority or target.authority,
            certificate=certificate or target.certificate,
            key=key or target.key,
        )
