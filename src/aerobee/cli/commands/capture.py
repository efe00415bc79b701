"""`aerobee capture …`: changes of a database's rows as messages.

stdout   one line, `ready: …`, when the snapshot is done and changes are followed
stderr   progress: one line that changes on a terminal, otherwise a line at intervals; notes
status   0 stopped or done, 1 failed, 2 wrong use
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_noun, add_verb, add_watch, show, target_of
from aerobee.cli.output import OK, Record, write_error, write_records
from aerobee.errors import AerobeeError, Misuse

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from aerobee.pipeline.capture.capture import CaptureOptions
    from aerobee.pipeline.capture.meter import Meter
    from aerobee.pipeline.capture.position import CaptureState

PASSWORD_VARIABLE = "AEROBEE_MYSQL_PASSWORD"
_EXAMPLES = """\
  aerobee capture mysql --host db --user replica --tables 'shop.*'
  aerobee capture mysql --tables 'shop.*,!shop.tmp_*' --topic-prefix cdc-
  aerobee capture mysql --tables shop.orders --once     up to now, then end
  aerobee capture mysql --tables 'shop.*' --snapshot always
  aerobee capture status                                all captures, and how far they are

The password comes from --password-file, else from AEROBEE_MYSQL_PASSWORD.
"""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "capture", "changes of a database's rows as messages", _EXAMPLES)
    text = "a snapshot of tables of MySQL or MariaDB, then every change of their rows"
    mysql = add_verb(verbs, "mysql", text, capture_mysql)
    mysql.add_argument("--host", default="127.0.0.1", help="of the database (127.0.0.1)")
    mysql.add_argument("--port", type=int, default=3306, help="(3306)")
    mysql.add_argument("--user", default="root", help="(root)")
    mysql.add_argument("--password-file", metavar="FILE", help="a file that has the password")
    mysql.add_argument(
        "--tls-ca", default="", metavar="FILE", help="believe only a server that this vouches for"
    )
    mysql.add_argument(
        "--tables",
        metavar="PATTERNS",
        action="append",
        required=True,
        help="SCHEMA.TABLE, several with commas; * for any text, ! for what is left out",
    )
    mysql.add_argument("--name", default="mysql", help="of this capture, and its state (mysql)")
    mysql.add_argument("--topic-prefix", default="", metavar="TEXT", help="before SCHEMA-TABLE")
    mysql.add_argument("--topic", default="", help="one for all tables, instead of one for each")
    mysql.add_argument("--queues", type=int, default=8, metavar="N", help="of a new topic (8)")
    mysql.add_argument(
        "--snapshot",
        choices=("initial", "always", "never"),
        default="initial",
        help="what is in the tables: once for each table, now in any case, or not at all (initial)",
    )
    mysql.add_argument(
        "--reread-altered", action="store_true", help="read a table again after ALTER TABLE"
    )
    mysql.add_argument("--once", action="store_true", help="end when all is captured")
    mysql.add_argument(
        "--chunk-rows", type=int, default=1000, metavar="N", help="read at once (1000)"
    )
    mysql.add_argument(
        "--save-interval", type=float, default=1.0, metavar="SECONDS", help="of the position (1)"
    )
    mysql.add_argument(
        "--heartbeat",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="save it at least this often, also when nothing happens (30)",
    )
    mysql.add_argument("--metrics-port", type=int, metavar="PORT", help="show /metrics here")
    add_watch(add_verb(verbs, "status", "all captures of a cluster", status))


def capture_mysql(parsed: argparse.Namespace) -> int:
    import asyncio

    from aerobee.client.connection.loop_portal import new_event_loop
    from aerobee.pipeline.capture.meter import Meter

    meter = Meter()
    try:
        options = _options(parsed)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_capture(parsed, options, meter))
    except AerobeeError as error:
        print(file=sys.stderr, flush=True, end="\r\x1b[K" if sys.stderr.isatty() else "")
        return write_error(error, parsed.output, sys.stderr)
    if parsed.once:
        write_records([_summary(meter)], parsed.output, sys.stdout)
    return OK


def status(parsed: argparse.Namespace) -> int:
    from aerobee.pipeline.capture.state_topic import captures

    return show(parsed, lambda admin: _records(captures(admin)), empty="no captures")


async def _records(states: "Awaitable[list[CaptureState]]") -> list[Record]:
    from aerobee.pipeline.capture.delivery import now_ms

    now = now_ms()
    return [
        {
            "name": state.name,
            "phase": state.phase.value,
            "position": str(state.position),
            "rows": state.rows,
            "tables": len(state.done),
            "lag_s": state.lag_seconds,
            "saved_s_ago": max(0.0, (now - state.updated_ms) / 1000),
        }
        for state in await states
    ]


def _options(parsed: argparse.Namespace) -> "CaptureOptions":
    from aerobee.pipeline.capture.capture import CaptureOptions, SnapshotMode
    from aerobee.pipeline.capture.database.server import ServerAddress
    from aerobee.pipeline.capture.state_topic import state_topic
    from aerobee.pipeline.capture.tables import TablePatterns, TopicNames

    if parsed.topic and parsed.topic_prefix:
        raise Misuse("--topic and --topic-prefix together", hint="one topic has no prefix")
    state_topic(parsed.name)
    return CaptureOptions(
        parsed.name,
        ServerAddress(
            parsed.host,
            parsed.port,
            parsed.user,
            _password(parsed.password_file),
            parsed.tls_ca,
        ),
        TablePatterns(parsed.tables),
        TopicNames(parsed.topic_prefix, parsed.topic),
        SnapshotMode(parsed.snapshot),
        parsed.once,
        parsed.reread_altered,
        parsed.queues,
        parsed.chunk_rows,
        parsed.save_interval,
        parsed.heartbeat,
    )


def _password(path: str | None) -> str:
    if path is None:
        return os.environ.get(PASSWORD_VARIABLE, "")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().rstrip("\r\n")
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}", hint="see --password-file") from error


async def _capture(parsed: argparse.Namespace, options: "CaptureOptions", meter: "Meter") -> None:
    import asyncio
    import contextlib
    import signal

    from aerobee.cli.commands.capture_progress import CaptureProgress
    from aerobee.pipeline.capture.metrics_page import metrics_page
    from aerobee.pipeline.capture.supervision import keep_capturing

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    out = None if parsed.once else sys.stdout
    progress = CaptureProgress(meter, sys.stderr, out, str(options.patterns))
    async with contextlib.AsyncExitStack() as stack:
        if parsed.metrics_port is not None:
            await stack.enter_async_context(metrics_page(meter, options.name, parsed.metrics_port))
        await stack.enter_async_context(progress)
        await keep_capturing(target_of(parsed), options, meter, progress.say, stop)


def _summary(meter: "Meter") -> Record:
    return {
        "rows": meter.rows_all,
        "transactions": meter.transactions,
        "position": str(meter.position),
        "restarts": meter.restarts,
    }
