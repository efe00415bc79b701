"""Examples as help shows them, on a terminal of 80 columns.

    aerobee topic list                what there is

A command, three blanks or more, and what it does.
"""

_HELP_CHARS = 80


def laid_out(examples: str) -> str:
    """Examples as help shows them: what is said of a command goes below it where a terminal of 80
    columns has no room for both."""
    lines = []
    for line in examples.splitlines():
        command, gap, note = line.partition("   ")
        if len(line) <= _HELP_CHARS or not gap or not command.strip():
            lines.append(line)
        else:
            lines += [command, f"      {note.strip()}"]
    return "\n".join(lines) + "\n"
