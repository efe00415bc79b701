"""The outcome of a command of mqadmin, by what it printed.

mqadmin has no exit code worth the name: it prints a stack trace, or `error`, and ends as usual. So
a command works if everything that it is to show is there and nothing looks like a failure; it
refuses if the reason is there that is to be given.
"""

import re
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from tests.interop.mqadmin.admin import Printed
from tests.interop.mqadmin.cases import Case

_FAILURE = re.compile(r"Exception\b|^\s*at [\w.$]+\(|CODE: \d+|\berror\b", re.MULTILINE)


class Outcome(Enum):
    WORKS = "works"
    REFUSES = "refuses"
    """With the reason that is wanted."""
    FAILS = "fails"


class Verdict(NamedTuple):
    outcome: Outcome
    why: str
    """The reason of a refusal, or what is wrong."""


def judge(case: Case, printed: Printed) -> Verdict:
    """What it came to."""
    if case.reason:
        found = re.search(case.reason, printed.text)
        if found is not None:
            return Verdict(Outcome.REFUSES, found[0])
        if not case.shows:
            return Verdict(Outcome.FAILS, f"it gives no reason:\n{printed.text[:3000]}")
    if not printed.ended and not case.is_endless:
        return Verdict(Outcome.FAILS, f"it still runs:\n{printed.text[-2000:]}")
    failure = None if case.may_say_error else _FAILURE.search(printed.text)
    if failure is not None:
        return Verdict(Outcome.FAILS, f"it shows {failure[0]!r}:\n{printed.text[:3000]}")
    missing = [pattern for pattern in case.shows if not _has(pattern, printed.text)]
    if missing:
        return Verdict(Outcome.FAILS, f"it does not show {missing}:\n{printed.text[:3000]}")
    return Verdict(Outcome.WORKS, "")


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Of all the ways in which a command was tried: the worst."""
    every = list(verdicts)
    for outcome in (Outcome.FAILS, Outcome.REFUSES):
        for verdict in every:
            if verdict.outcome is outcome:
                return verdict
    return Verdict(Outcome.WORKS, "")


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.MULTILINE) is not None
