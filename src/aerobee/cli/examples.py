"""Examples as help shows them, on a terminal of 80 columns.

    aerobee topic list                what there is

An example is a command, three blanks or more, and a note.
"""

_HELP_CHARS = 80
_GAP = "   "


def laid_out(examples: str) -> str:
    """Lay out examples for help: on a terminal of 80 columns notes move closer to the commands
    where that is enough, and the note of a long command goes below it."""
    lines = examples.splitlines()
    if any(len(line) > _HELP_CHARS for line in lines):
        lines = _closer(lines)
    laid = []
    for line in lines:
        command, gap, note = line.partition(_GAP)
        if len(line) <= _HELP_CHARS or not gap or not command.strip():
            laid.append(line)
        else:
            laid += [command, f"      {note.strip()}"]
    return "\n".join(laid) + "\n"


def _closer(lines: list[str]) -> list[str]:
    """Move notes right behind the longest command that has one."""
    parts = [line.rstrip().partition(_GAP) for line in lines]
    widest = max((len(command) for command, _, note in parts if note), default=0)
    return [
        f"{command.ljust(widest)}{_GAP}{note.strip()}" if note else command
        for command, _, note in parts
    ]
