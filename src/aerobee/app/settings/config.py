"""Configuration: RocketMQ's property files, environment variables and flags, read once, checked at
once, handed out in frozen pieces.

    defaults  <  file (-c)  <  environment (AEROBEE_…)  <  flags          the later one counts

All mistakes are collected before any is reported: a value of the wrong kind, an unknown key (with
the one that was probably meant), a relation that does not hold. RocketMQ's keys without effect here
are accepted and reported, so that its files work as they are.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_address
from typing import NamedTuple, TypeVar

from aerobee.errors import Misuse, ProtocolError
from aerobee.model.setting import PORT, TEXT, TRUTH, Setting, texts
from aerobee.protocol.text.java_properties import parse_properties, write_properties
from aerobee.service.config_requests import HIDDEN, is_secret

C = TypeVar("C")

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class BadConfig(Misuse):
    """A configuration is wrong; lists all mistakes, one line each."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = tuple(mistakes)


class Given(NamedTuple):
    key: str
    text: str
    place: str
    """Where it was given, for people: `namesrv.conf line 3`."""


class PathKind:
    """A path; `~` is the home directory."""

    def read(self, text: str) -> str:
        if not text:
            raise ValueError("a path")
        return os.path.expanduser(text)

    def write(self, value: str) -> str:
        return value


PATH = PathKind()


@dataclass(frozen=True, slots=True)
class ListenConfig:
    """The address on which a service listens."""

    port: int
    host: str = "127.0.0.1"
    """Loopback until somebody says otherwise: off it, whoever reaches the port can do anything."""
    connections_max: int = 10_000
    """More are refused. Each costs a file descriptor and some 20 KB."""
    is_insecure: bool = False
    """Whether it may be open to other machines though nobody is asked who it is: neither by
    authenticationEnabled nor for a certificate."""

    @property
    def is_open(self) -> bool:
        """Whether other machines may reach it."""
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


INSECURE_SETTING = Setting("insecure", "is_insecure", TRUTH)
LISTEN_SETTINGS = (
    Setting("listenPort", "port", PORT),
    Setting("bindAddress", "host", TEXT),
    INSECURE_SETTING,
)


def exposure(listen: ListenConfig, *, is_guarded: bool) -> list[str]:
    """Return why a server must not listen there; nothing: it may."""
    if is_guarded or listen.is_insecure or not listen.is_open:
        return []
    return [
        f"bindAddress={listen.host} is open to other machines, and nobody is asked who it is: set "
        "authenticationEnabled=true, or tlsClientCertificates=require with tlsMode=enforcing; to "
        "be open all the same, say --insecure (insecure=true)"
    ]


def environment_name(prefix: str, key: str) -> str:
    """`AEROBEE_NAMESRV_` and `listenPort` → `AEROBEE_NAMESRV_LISTEN_PORT`."""
    return prefix + _HUMP.sub("_", key).replace(".", "_").upper()


def given_in_file(path: str) -> list[Given]:
    """Return the values in a file. BadConfig: there is no such file, or it is no text."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise BadConfig([f"{path} cannot be read: {reason}"]) from None
    try:
        found = parse_properties(text)
    except ProtocolError as error:
        raise BadConfig([f"{path} {error.message}"]) from None
    return [Given(key, value, f"{path} line {line}") for line, key, value in found]


def given_in_environment(
    environment: Mapping[str, str], prefix: str, keys: Collection[str]
) -> list[Given]:
    """Return every variable with the prefix; a variable of no known key keeps its own name."""
    known = {environment_name(prefix, key): key for key in keys}
    return [
        Given(known.get(name, name), text, f"environment variable {name}")
        for name, text in sorted(environment.items())
        if name.startswith(prefix)
    ]


class Reading:
    """Builds pieces of configuration from the given values; call `finish` after the last piece."""

    def __init__(self, given: Sequence[Given], *, prefix: str, ignored: Collection[str]) -> None:
        """`ignored` are RocketMQ's keys that cannot apply here."""
        self._given: dict[str, list[Given]] = {}
        for item in given:
            self._given.setdefault(item.key, []).append(item)
        self._prefix = prefix
        self._ignored = ignored
        self._known: set[str] = set()
        self._mistakes: list[str] = []
        self._effective: dict[str, str] = {}

    def build(self, default: C, settings: Sequence[Setting]) -> C:
        """Return the default, overridden by the values given for these settings."""
        fields = {}
        for setting in settings:
            self._known.add(setting.key)
            # What is overridden is read, too: a mistake in a file is worth knowing.
            for item in self._given.get(setting.key, ()):
                try:
                    fields[setting.field] = setting.kind.read(item.text.strip())
                except ValueError as wanted:
                    shown = HIDDEN if is_secret(setting.key) else repr(item.text.strip())
                    self._mistakes.append(
                        f"{item.place}: {setting.key} must be {wanted}, not {shown}"
                    )
        try:
            config = type(default)(**{**_fields(default), **fields})
        except ValueError as error:
            self._mistakes.append(str(error))
            config = default
        self._effective |= texts(config, settings)
        return config

    def refuse(self, mistakes: Sequence[str]) -> None:
        """Add mistakes in how the settings fit together."""
        self._mistakes.extend(mistakes)

    def finish(self) -> None:
        """BadConfig lists everything that is wrong."""
        for key, items in self._given.items():
            if key in self._known or key in self._ignored:
                continue
            for item in items:
                what = item.place if item.place.endswith(key) else f"{item.place}: {key}"
                self._mistakes.append(f"{what} is not known{self._meant(key)}")
        if self._mistakes:
            raise BadConfig(self._mistakes)

    def ignored(self) -> list[str]:
        """The given keys that have no effect here."""
        return sorted(key for key in self._given if key in self._ignored)

    def effective(self) -> str:
        """The effective values in the form of a file, with the source of each."""
        lines = []
        for key, text in self._effective.items():
            place = self._given[key][-1].place if key in self._given else "default"
            lines.append(f"# {place}\n{write_properties({key: text})}")
        return "".join(lines)

    def _meant(self, key: str) -> str:
        candidates = [*self._known, *self._ignored]
        if key.startswith(self._prefix):
            candidates = [environment_name(self._prefix, name) for name in candidates]
        lower = {name.lower(): name for name in candidates}
        close = get_close_matches(key.lower(), lower, n=1, cutoff=0.7)
        return f": did you mean {lower[close[0]]}?" if close else ""


def _fields(config: object) -> dict[str, object]:
    names: Mapping[str, object] = getattr(config, "__dataclass_fields__", {})
    return {name: getattr(config, name) for name in names}
