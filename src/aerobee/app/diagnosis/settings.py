"""The judge of a broker's configuration file: mistakes, keys without effect, and risky choices.

Mistakes are found by the same parser of settings as at a broker's start.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding

AREA = "settings"


@dataclass(frozen=True, slots=True)
class SettingsFacts:
    path: str
    mistakes: Sequence[str] = ()
    ignored: Sequence[str] = ()
    host: str = ""
    """Where it listens."""
    advertised: str = ""
    """What clients are told; empty: where it listens, or this machine's address."""
    name_servers: Sequence[str] = ()
    flush: str = ""
    is_exposed: bool = False
    """Whether it is open to other machines, and nobody is asked who it is."""
    warnings: Sequence[str] = ()
    """Settings that do not fit together: `…: write …`."""
    shows_passwords: bool = False
    """Whether others of the machine may read passwords in it."""


def settings_findings(facts: SettingsFacts) -> list[Finding]:
    if facts.mistakes:
        return [
            Finding(
                BAD,
                AREA,
                facts.path,
                mistake,
                "correct it; `aerobee broker config -c FILE` shows what would hold",
                "a broker does not start with a configuration that it cannot believe",
            )
            for mistake in facts.mistakes
        ]
    found = [Finding(OK, AREA, facts.path, "without mistakes")]
    if facts.ignored:
        found.append(
            Finding(
                OK, AREA, facts.path, f"these keys mean nothing here: {', '.join(facts.ignored)}"
            )
        )
    if not facts.name_servers:
        found.append(
            Finding(
                WARN,
                AREA,
                "namesrvAddr",
                "not set",
                "set it to your name servers, with ; in between",
                "clients find a broker through the name servers that it registers with",
            )
        )
    if facts.host not in ("", "127.0.0.1", "::1", "localhost") and not facts.advertised:
        found.append(
            Finding(
                WARN,
                AREA,
                "brokerIP1",
                f"not set, and bindAddress is {facts.host}",
                "set it to the address that clients reach",
                "a machine with several addresses, or a container, may register the wrong one",
            )
        )
    found += _open_doors(facts)
    for warning in facts.warnings:
        seen, _, change = warning.partition(": write ")
        found.append(
            Finding(
                WARN,
                AREA,
                facts.path,
                seen,
                f"write {change}" if change else "change one of them",
                "together these settings do less than they seem to",
            )
        )
    if facts.flush:
        found.append(Finding(OK, AREA, "flushDiskType", facts.flush))
    return found


def _open_doors(facts: SettingsFacts) -> list[Finding]:
    """Return findings about who gets in, or learns how to."""
    found = []
    if facts.is_exposed:
        found.append(
            Finding(
                BAD,
                AREA,
                "insecure",
                f"true, and bindAddress is {facts.host}: everybody who reaches it may do anything",
                "set authenticationEnabled=true, and leave insecure out",
                "whoever reaches the port can read and delete every message",
            )
        )
    if facts.shows_passwords:
        found.append(
            Finding(
                BAD,
                AREA,
                facts.path,
                "has passwords, and others of this machine may read it",
                f"chmod 600 {facts.path}",
                "whoever knows the brokers' own user may do everything, on all of them",
            )
        )
    return found
