"""Contexts hold clusters by name, in a small file in the user's configuration folder.

    {"current": "prod", "contexts": {"prod": "rmq://key:secret@10.0.0.1:9876?tls=on"}}

The file is $AEROBEE_CONFIG, else contexts.json in $XDG_CONFIG_HOME/aerobee, else in
~/.config/aerobee. It may hold secrets: only its owner can read it. It is replaced atomically.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aerobee.errors import Misuse, NotFound

FILE_VARIABLE = "AEROBEE_CONFIG"
CONTEXT_VARIABLE = "AEROBEE_CONTEXT"
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Contexts:
    current: str = ""
    """The one in use; empty: none."""
    targets: Mapping[str, str] = field(default_factory=dict)

    def target(self, name: str) -> str:
        if name not in self.targets:
            there = ", ".join(sorted(self.targets)) or "none; `aerobee context add` makes one"
            raise NotFound(f"there is no context {name!r}", hint=f"there are: {there}")
        return self.targets[name]

    def with_target(self, name: str, target: str) -> "Contexts":
        return replace(self, targets={**self.targets, name: target})

    def using(self, name: str) -> "Contexts":
        """Choose the context in use; empty: none."""
        if name:
            self.target(name)
        return replace(self, current=name)

    def without(self, name: str) -> "Contexts":
        self.target(name)
        rest = {other: target for other, target in self.targets.items() if other != name}
        return Contexts("" if self.current == name else self.current, rest)


def contexts_path(environment: Mapping[str, str]) -> str:
    given = environment.get(FILE_VARIABLE)
    if given:
        return given
    folder = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".config"
    )
    return os.path.join(folder, "aerobee", "contexts.json")


def read_contexts(environment: Mapping[str, str]) -> Contexts:
    """Read the file; no file: no contexts."""
    path = contexts_path(environment)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        targets = {str(name): str(target) for name, target in found["contexts"].items()}
        return Contexts(str(found.get("current") or ""), targets)
    except FileNotFoundError:
        return Contexts()
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, AttributeError, TypeError):
        raise Misuse(
            f"{path} is no file of contexts", hint=f"mend it, delete it or set {FILE_VARIABLE}"
        ) from None


def write_contexts(contexts: Contexts, environment: Mapping[str, str]) -> str:
    """Write the file; returns its path."""
    path = contexts_path(environment)
    written = {"current": contexts.current, "contexts": dict(contexts.targets)}
    text = json.dumps(written, indent=2, ensure_ascii=False) + "\n"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        handle = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.new", path)
    except OSError as error:
        raise Misuse(
            f"{path} cannot be written: {error.strerror}", hint=f"set {FILE_VARIABLE} to another"
        ) from None
    return path
