"""Translation of Spark's exceptions into one line: what went wrong, and what to do about it.

Spark wraps an AerobeeError in a Python traceback, that in a Java exception, and that in another.
The useful part is the innermost sentence. An AerobeeError keeps its hint; frequent errors of Spark
get one here.
"""

import re

from aerobee.errors import AerobeeError

# `aerobee.errors.Misuse: there is no option x`, the last line of a Python trace.
_OURS = re.compile(r"^(?:\S+: )*aerobee\.[\w.]+\.(\w+): (.+)$", re.MULTILINE)
_PYTHONS = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception)): (.+)$", re.MULTILINE)
_HINTED = re.compile(r"(.+) \(([^()]*(?:\([^()]*\)[^()]*)*)\)$", re.DOTALL)
# `: java.lang.IllegalStateException: what it says`, as Py4J prints an exception; `Caused by: …`.
_JAVAS = re.compile(r"^(?:: |Caused by: )(?:\w+\.)+(\w+)(?:: (.+))?$", re.MULTILINE)
_CONDITION = re.compile(r"^\[([A-Z0-9_.]+)\] ")
_STATE = re.compile(r" SQLSTATE: \w+;?$")
_HINTS = (
    ("DATA_SOURCE_NOT_FOUND", "the package aerobee must be installed where the driver runs"),
    ("ModuleNotFoundError", "install aerobee on the executors, too: docs/pipeline.md says how"),
    ("CONCURRENT_QUERY", "another run uses this checkpoint: stop it, or choose another"),
    ("ConcurrentQuery", "another run uses this checkpoint: stop it, or choose another"),
    (
        "Python worker",
        "Spark's log says more; is the same Python on all machines? PYSPARK_PYTHON chooses it",
    ),
    ("Could not connect to", "is the master there? --master local[*] needs none"),
    ("All masters are unresponsive", "is the master there? --master local[*] needs none"),
)


class JobFailed(AerobeeError):
    """A job ended with an error; `cause` is the name of the AerobeeError, if it was one."""

    def __init__(self, message: str, *, hint: str = "", cause: str = "") -> None:
        super().__init__(message, hint=hint)
        self.cause = cause


def explained(error: BaseException, log: str = "") -> AerobeeError:
    """Return the error of a job as an AerobeeError. `log` is Spark's log of the run: some causes
    are only there."""
    if isinstance(error, AerobeeError):
        return error
    text = str(error)
    ours = _OURS.findall(text)
    if ours:
        message, hint = _divided(_STATE.sub("", ours[-1][1].strip()))
        return JobFailed(message, hint=hint, cause=ours[-1][0])
    message = _sentence(text) or type(error).__name__
    return JobFailed(message, hint=_hint(text) or _hint(log) or "--verbose shows everything")


def _sentence(text: str) -> str:
    """Return the innermost message."""
    of_python = _PYTHONS.findall(text)
    if of_python:
        kind, said = of_python[-1]
        return f"{kind}: {_STATE.sub('', said.strip())}"
    of_java = [said or kind for kind, said in _JAVAS.findall(text)]
    if of_java:
        return _plain(of_java[-1])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith(("at ", "JVM stacktrace", "=== "))]
    return _plain(plain[0]) if plain else ""


def _plain(sentence: str) -> str:
    return _STATE.sub("", _CONDITION.sub("", sentence.strip()))


def _hint(text: str) -> str:
    return next((hint for word, hint in _HINTS if word in text), "")


def _divided(said: str) -> tuple[str, str]:
    """Split `message (hint)`, the form in which an error prints itself."""
    found = _HINTED.fullmatch(said)
    return (found[1], found[2]) if found else (said, "")
