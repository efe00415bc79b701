"""`aerobee pipeline …`: lists and runs jobs on Spark, and shows their options.

Local by default; `--master` names any cluster, and `--print-submit` prints the spark-submit command
instead. Spark's own log goes to a file, unless `--verbose`.
"""

import argparse
import os
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aerobee.cli.cluster_verbs import Verbs, add_local_verb, add_noun, asked, target_of
from aerobee.cli.command_parser import HelpLayout
from aerobee.cli.output import (
    FORMATS,
    NOT_FOUND,
    OK,
    TABLE,
    UNHEALTHY,
    WRONG_USE,
    Record,
    is_terminal,
    width_of,
    write_error,
    write_records,
)
from aerobee.errors import AerobeeError, Misuse, NotFound, TopicNotFound, Unreachable
from aerobee.pipeline.jobs.job import NO, YES, Chosen, Job, JobOption
from aerobee.pipeline.jobs.registry import JOBS, job_of

_EXAMPLES = """\
  aerobee pipeline list                                what there is
  aerobee pipeline describe statistics                 what it takes
  aerobee pipeline run statistics --topic orders --by tags --window 10s
  aerobee pipeline run lake --topic orders --to-folder lake/orders --once
  aerobee pipeline run lake --topic orders --to-folder lake --commit-offsets
  aerobee pipeline run upsert --topic shop-orders --to-folder lake/orders --print-submit
"""
LOG = "spark.log"
_LINE_COLUMNS = 79
_LOG_CHARS = 20_000


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "pipeline", "jobs on Spark: list, describe, run", _EXAMPLES)
    add_local_verb(verbs, "list", "the jobs", list_jobs)
    describing = add_local_verb(verbs, "describe", "what a job does and takes", describe)
    describing.add_argument("job", metavar="JOB")
    running = verbs.add_parser(
        "run", help="run a job", description="run a job", formatter_class=HelpLayout
    )
    jobs = running.add_subparsers(title="jobs", metavar="JOB", required=True)
    for job in JOBS.values():
        _add_job(jobs, job)


def list_jobs(parsed: argparse.Namespace) -> int:
    records: list[Record] = [
        {"job": job.name, "kind": "stream" if job.is_stream else "batch", "what": job.summary}
        for job in JOBS.values()
    ]
    _write(records, parsed)
    if parsed.output == TABLE:
        print("\nstreams show how far they are: --commit-offsets (a group), --metrics PORT")
    return OK


def describe(parsed: argparse.Namespace) -> int:
    try:
        job = job_of(parsed.job)
    except AerobeeError as error:
        write_error(error, parsed.output, sys.stderr)
        return WRONG_USE
    records: list[Record] = [
        {"option": one.name, "default": _default_of(one), "what": one.text} for one in job.options
    ]
    if parsed.output == TABLE:
        print(f"{job.name}: {job.summary}\n\n{textwrap.fill(job.description, 78)}\n")
    _write(records, parsed)
    if parsed.output == TABLE:
        print("\nand source.X, sink.X and spark.X: options of Spark's reader, writer and session")
        print(f"\n  {job.example}")
    return OK


def run(parsed: argparse.Namespace) -> int:
    from aerobee.pipeline.jobs.job import chosen_of

    job = job_of(parsed.job)
    try:
        given = _given(job, parsed)
        chosen = chosen_of(job, given)
    except Misuse as error:
        write_error(error, parsed.output, sys.stderr)
        return WRONG_USE
    if parsed.print_submit:
        from aerobee.pipeline.jobs.spark_submit import submit_line

        print(submit_line(job.name, given, parsed.master))
        return OK
    return _run(job, chosen, parsed)


def _run(job: Job, chosen: Chosen, parsed: argparse.Namespace) -> int:
    from aerobee.pipeline.jobs.failure import explained
    from aerobee.pipeline.jobs.running import run_job

    log = None if parsed.verbose else Path(parsed.log)
    shown = Shown(is_live=is_terminal(sys.stderr))
    try:
        _check_what_is_read(chosen)
        outcome = run_job(job, chosen, shown, master=parsed.master, log=log)
    except KeyboardInterrupt:
        raise
    except Exception as error:
        shown.end()
        if parsed.verbose:
            raise
        cause = explained(error, _tail(log))
        status = write_error(cause, parsed.output, sys.stderr)
        if log is not None and log.exists() and parsed.output == TABLE and shown.is_begun:
            print(f"  log:  {log}", file=sys.stderr)
        return NOT_FOUND if getattr(cause, "cause", "") == TopicNotFound.__name__ else status
    shown.end()
    if outcome.records:
        _write(outcome.records, parsed)
    print(outcome.said or shown.summary(), file=sys.stderr)
    return OK if outcome.is_well else UNHEALTHY


def _check_what_is_read(chosen: Chosen) -> None:
    """Report a missing store or topic before Spark takes ten seconds to start."""
    topic, store = chosen.values.get("topic"), chosen.values.get("store")
    if store:
        if "://" not in store and not Path(store).exists():
            raise NotFound(
                f"{store} is not there", hint="--store is a store's folder, such as data/store"
            )
        return
    if not topic or chosen.source.keys() & {"accessKey", "tls", "tlsCa"}:
        return  # a source that signs or encrypts asks for itself
    where = argparse.Namespace(name_server=chosen.values["name-server"])
    try:
        asked(where, lambda admin: admin.topics.route(topic))
    except Unreachable:
        from aerobee.pipeline.session import prepare_java

        prepare_java(os.environ)  # what is missing here is said before what is missing elsewhere
        raise


def _tail(log: Path | None) -> str:
    """Return the end of Spark's log."""
    if log is None or not log.exists():
        return ""
    return log.read_text("utf-8", "replace")[-_LOG_CHARS:]


class Shown:
    """Progress on a terminal: one line that changes; elsewhere a line for each batch of rows."""

    def __init__(self, *, is_live: bool) -> None:
        self._is_live = is_live
        self._is_open = False
        self.is_begun = False
        """Whether there is anything to be found in Spark's log."""
        self._batches = 0
        self._rows = 0
        self._since = time.monotonic()

    def step(self, text: str) -> None:
        self.is_begun = True
        self.end()
        print(text, file=sys.stderr, flush=True)

    def batch(self, progress: Mapping[str, Any]) -> None:
        from aerobee.pipeline.jobs.progress_line import progress_line, rows_of

        rows = rows_of(progress)
        if rows:
            self._batches += 1
            self._rows += rows
        if rows or self._is_live:
            self._show(progress_line(progress))

    def tasks(self, done: int, total: int) -> None:
        if self._is_live:
            self._show(f"{done} of {total} tasks")

    def summary(self) -> str:
        seconds = time.monotonic() - self._since
        return f"{self._rows:,} rows in {self._batches} batches, {seconds:.0f} s"

    def end(self) -> None:
        if self._is_open:
            print(file=sys.stderr, flush=True)
            self._is_open = False

    def _show(self, line: str) -> None:
        if self._is_live:
            shown = f"\r{line[:_LINE_COLUMNS]:{_LINE_COLUMNS}}"
            print(shown, end="", file=sys.stderr, flush=True)
            self._is_open = True
        else:
            print(line, file=sys.stderr, flush=True)


def _add_job(jobs: Verbs, job: Job) -> None:
    parser = jobs.add_parser(
        job.name,
        help=job.summary,
        description=textwrap.fill(job.description, 78),
        epilog=f"example:\n  {job.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for one in job.options:
        words = ["-n", "--name-server"] if one.name == "name-server" else [f"--{one.name}"]
        kind: dict[str, Any] = (
            {"action": "store_const", "const": YES} if one.is_flag else {"metavar": "X"}
        )
        default = f" ({one.default})" if one.default and not one.is_flag else ""
        parser.add_argument(*words, dest=f"option {one.name}", help=one.text + default, **kind)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any option; also source.X, sink.X, spark.X",
    )
    parser.add_argument("--master", default="local[*]", metavar="URL", help="(local[*])")
    parser.add_argument("--print-submit", action="store_true", help="show the spark-submit line")
    parser.add_argument("--log", default=LOG, metavar="FILE", help=f"what Spark says ({LOG})")
    parser.add_argument("--verbose", action="store_true", help="everything, on the terminal")
    parser.add_argument("-o", "--output", choices=FORMATS, default=TABLE, help="(table)")
    parser.add_argument("--wide", action="store_true", help="cut nothing, however wide")
    parser.set_defaults(verb=run, job=job.name)
    if job.option("name-server") is not None:
        parser.add_argument("--context", metavar="NAME", help="a cluster by name; see `context`")


def _given(job: Job, parsed: argparse.Namespace) -> dict[str, str]:
    """Return the options given by flags and by --set, with the cluster's address as for every
    command."""
    from aerobee.pipeline.jobs.spark_submit import pairs

    flags = {
        one.name: text
        for one in job.options
        if (text := getattr(parsed, f"option {one.name}")) is not None
    }
    given = {**pairs(parsed.set), **flags}
    if job.option("name-server") is not None and "name-server" not in given:
        named = argparse.Namespace(name_server=None, context=parsed.context)
        given["name-server"] = target_of(named)
    return given


def _write(records: Sequence[Record], parsed: argparse.Namespace) -> None:
    width = width_of(sys.stdout, is_wide=parsed.wide)
    write_records(records, parsed.output, sys.stdout, width=width)


def _default_of(option: JobOption) -> str:
    if option.is_needed and not option.default:
        return "needed"
    return option.default or (NO if option.is_flag else "-")
