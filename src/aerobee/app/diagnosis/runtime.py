"""The runtime's judge: Python, its event loop, and whether the hot modules are compiled.

Servers work without uvloop and without compiled modules, too, but several times slower.
"""

from dataclasses import dataclass

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding

AREA = "runtime"
PYTHON_LEAST = (3, 11)


@dataclass(frozen=True, slots=True)
class RuntimeFacts:
    python: tuple[int, int, int]
    implementation: str
    loop_version: str
    """Of uvloop; empty: it is not installed."""
    compiled: int
    hot: int
    system: str = "linux"


def runtime_findings(facts: RuntimeFacts) -> list[Finding]:
    return [_python(facts), _loop(facts), _compiled(facts), _system(facts)]


def _python(facts: RuntimeFacts) -> Finding:
    seen = f"{facts.implementation} {'.'.join(map(str, facts.python))}"
    if facts.python[:2] >= PYTHON_LEAST:
        return Finding(OK, AREA, "Python", seen)
    wanted = ".".join(map(str, PYTHON_LEAST))
    return Finding(
        BAD, AREA, "Python", seen, f"use {wanted} or newer", "nothing older was ever tried"
    )


def _loop(facts: RuntimeFacts) -> Finding:
    if facts.loop_version:
        return Finding(OK, AREA, "event loop", f"uvloop {facts.loop_version}")
    return Finding(
        WARN,
        AREA,
        "event loop",
        "Python's own",
        "install uvloop",
        "each read and write costs more time: fewer messages a second",
        ("pip install uvloop",),
    )


def _compiled(facts: RuntimeFacts) -> Finding:
    subject = "compiled modules"
    if facts.compiled == facts.hot:
        return Finding(OK, AREA, subject, f"all {facts.hot}")
    is_none = facts.compiled == 0
    return Finding(
        WARN if is_none else BAD,
        AREA,
        subject,
        "none: pure Python" if is_none else f"{facts.compiled} of {facts.hot}",
        "install it again where there is a C compiler",
        "a message costs several times as much"
        if is_none
        else "half a compiled package mixes two versions of its modules",
        ("REQUIRE_CYTHON=1 pip install --force-reinstall --no-deps aerobee",),
    )


def _system(facts: RuntimeFacts) -> Finding:
    if facts.system == "linux":
        return Finding(OK, AREA, "system", "Linux")
    return Finding(
        WARN,
        AREA,
        "system",
        facts.system,
        "run brokers on Linux",
        "the store relies on msync, posix_fallocate and advice to the page cache; clients run here",
    )
