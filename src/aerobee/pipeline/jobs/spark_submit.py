"""The program that spark-submit runs. Its arguments are a job's name and options.

    spark-submit --master spark://host:7077 …/spark_submit.py statistics topic=orders window=10s

The master and the driver's settings are options of spark-submit. `aerobee pipeline run` with
`--print-submit` prints the whole command.
"""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

if sys.path and sys.path[0] and __name__ == "__main__":
    # Python puts the folder of a program in front; the names in this one are not for everybody.
    del sys.path[0]

from aerobee.errors import AerobeeError, Misuse
from aerobee.pipeline.jobs.failure import explained
from aerobee.pipeline.jobs.job import chosen_of
from aerobee.pipeline.jobs.progress_line import progress_line
from aerobee.pipeline.jobs.registry import job_of
from aerobee.pipeline.jobs.running import run_job


def main(words: Sequence[str]) -> int:
    try:
        if not words:
            raise Misuse("no job is named", hint="spark_submit.py NAME option=value …")
        job = job_of(words[0])
        outcome = run_job(
            job, chosen_of(job, pairs(words[1:])), SubmitLines(), master="as submitted"
        )
    except AerobeeError as error:
        print(f"aerobee: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        print(f"aerobee: {explained(error)}", file=sys.stderr)
        return 1
    for record in outcome.records:
        print(json.dumps(record, default=str))
    return 0 if outcome.is_well else 4


def pairs(words: Sequence[str]) -> dict[str, str]:
    """Parse `name=value` arguments. Misuse."""
    found = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise Misuse(f"{word!r} is not name=value")
        found[name] = value
    return found


def submit_line(
    name: str, given: Mapping[str, str], master: str, *, program: str = __file__
) -> str:
    """Return the shell command that runs a job on a cluster."""
    settings = {key: text for key, text in given.items() if key.startswith("spark.")}
    words = ["spark-submit", "--master", master, "--name", f"aerobee {name}"]
    for key, text in sorted(settings.items()):
        words += ["--conf", f"{key}={text}"]
    words += [program, name]
    words += [f"{key}={text}" for key, text in given.items() if key not in settings]
    return shlex.join(words)


class SubmitLines:
    """A watcher that writes each report as a line on stderr."""

    def step(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def batch(self, progress: Mapping[str, Any]) -> None:
        print(progress_line(progress), file=sys.stderr, flush=True)

    def tasks(self, done: int, total: int) -> None:
        print(f"{done} of {total} tasks", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
