"""Finding is the result of one check: its subject, its level, and if needed a remedy with a reason.

ok     as it should be
warn   works, but slower or less safe than it could
bad    does not work, or will not for long
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OK, WARN, BAD = LEVELS = ("ok", "warn", "bad")


@dataclass(frozen=True, slots=True)
class Finding:
    level: str
    area: str
    """kernel, disk, clock, cluster, runtime, settings"""
    subject: str
    seen: str
    change: str = ""
    """What to do, for people."""
    why: str = ""
    commands: Sequence[str] = ()
    """The same for a shell; run by nobody here."""

    def to_json(self) -> dict[str, object]:
        return {
            "level": self.level,
            "area": self.area,
            "subject": self.subject,
            "seen": self.seen,
            "change": self.change,
            "why": self.why,
            "commands": list(self.commands),
        }


def worst(findings: Iterable[Finding]) -> str:
    return max((one.level for one in findings), key=LEVELS.index, default=OK)


def script(findings: Iterable[Finding]) -> str:
    """Return all commands as one script, with their reasons."""
    lines = ["# Nothing here was run. Read it, then run what you agree with, as root."]
    for one in findings:
        if one.level != OK and one.commands:
            lines += ["", f"# {one.subject}: {one.seen}", f"# {one.why}", *one.commands]
    if len(lines) == 1:
        return "# Nothing to change that a command could change."
    return "\n".join(lines)
