"""Job is a name, declared options, and a start function.

    declared      name, meaning, default
    chosen        text by name, checked all at once against the declared options
    source.X      an option of the source that the job reads with: source.maxOffsetsPerTrigger=1000
    sink.X        one of the sink
    spark.X       a setting of the session

A job's module imports Spark when the job starts and not before, so that jobs are listed quickly.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aerobee.errors import Misuse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SOURCE, SINK, SPARK = PREFIXES = ("source.", "sink.", "spark.")
YES, NO = "yes", "no"
_INTERVAL = re.compile(r"(\d+)\s*(ms|s|m|h|d)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class JobOption:
    name: str
    """In words joined by hyphens: what a flag is called."""
    text: str
    default: str = ""
    is_needed: bool = False
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    is_interval: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The checked options of one run."""

    values: Mapping[str, str]
    source: Mapping[str, str] = field(default_factory=dict)
    sink: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return self.values[name]

    def names(self, name: str) -> tuple[str, ...]:
        """`a, b` → a and b."""
        return tuple(one.strip() for one in self.values[name].split(",") if one.strip())

    def is_on(self, name: str) -> bool:
        return self.values[name] == YES

    def interval(self, name: str) -> str:
        """`10s` → `10 seconds`, as Spark writes it; empty stays empty."""
        return interval_of(name, self.values[name])


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a start: a running query, or finished records."""

    query: "StreamingQuery | None" = None
    records: Sequence[Record] = ()
    said: str = ""
    """One line for people."""
    is_well: bool = True
    """Whether what was looked at is as it should be."""


Start = Callable[["SparkSession", Chosen], JobOutcome]
Check = Callable[[Chosen], object]
"""Misuse for options that do not go together: said before Spark is started, which takes seconds."""


@dataclass(frozen=True, slots=True)
class Job:
    """J1. Names of options are unique."""

    name: str
    summary: str
    description: str
    options: tuple[JobOption, ...]
    start: Start
    example: str = ""
    is_stream: bool = True
    check: Check = lambda chosen: None  # of a job that has nothing to check

    def option(self, name: str) -> JobOption | None:
        return next((one for one in self.options if one.name == name), None)


def chosen_of(job: Job, given: Mapping[str, str]) -> Chosen:
    """Check the given options and add defaults. Misuse lists everything that is wrong."""
    mistakes: list[str] = []
    passed: dict[str, dict[str, str]] = {prefix: {} for prefix in PREFIXES}
    values = {one.name: one.default for one in job.options}
    for name, text in given.items():
        prefix = next((one for one in PREFIXES if name.startswith(one)), None)
        option = job.option(name)
        if prefix is not None:
            passed[prefix][name.removeprefix(prefix) if prefix != SPARK else name] = text
        elif option is None:
            mistakes.append(_unknown(job, name))
        else:
            values[name] = text
            mistakes += _wrong(option, text)
    for option in job.options:
        if option.is_needed and not values[option.name]:
            mistakes.append(f"{option.name} is needed: {option.text}")
    if mistakes:
        raise Misuse("; ".join(mistakes), hint=f"aerobee pipeline describe {job.name} lists all")
    chosen = Chosen(values, passed[SOURCE], passed[SINK], passed[SPARK])
    job.check(chosen)
    return chosen


def interval_of(name: str, text: str) -> str:
    if not text:
        return ""
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        raise Misuse(_no_interval(name, text))
    return f"{found[1]} {_UNITS[found[2]]}"


def _unknown(job: Job, name: str) -> str:
    near = difflib.get_close_matches(name, [one.name for one in job.options], 1)
    meant = f"; was {near[0]} meant?" if near else ""
    return f"{job.name} has no option {name}{meant}"


def _wrong(option: JobOption, text: str) -> list[str]:
    choices: tuple[Any, ...] = (YES, NO) if option.is_flag else option.choices
    if choices and text not in choices:
        return [f"{option.name} is one of {', '.join(choices)}, not {text!r}"]
    if option.is_interval and text and _INTERVAL.fullmatch(text.strip()) is None:
        return [_no_interval(option.name, text)]
    return []


def _no_interval(name: str, text: str) -> str:
    return f"{name} is a time like 500ms, 10s, 5m, 1h or 7d, not {text!r}"
