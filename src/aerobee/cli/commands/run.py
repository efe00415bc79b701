"""`aerobee run module:app`: handles messages with an application's functions.

It runs one process, or several under a supervisor that restarts them.
"""

import argparse
import os
import sys

_EXAMPLES = """\
examples:
  aerobee run billing:app                   the App called `app` in billing.py
  aerobee run billing:app --workers 4       four processes, started again when they end
  aerobee run billing:app --reload          started again when the source changes
"""


def add_to(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "handle messages with the functions of an application"
    parser = nouns.add_parser(
        "run",
        help=text,
        description=text,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("application", metavar="MODULE:APP", help="where the aerobee.App is")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes (1)")
    parser.add_argument(
        "--reload", action="store_true", help="start again when a Python file here changes"
    )
    parser.set_defaults(verb=start)


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app.process import lifecycle, log_setup

    if parsed.workers < 1:
        print(f"aerobee: {parsed.workers} workers do no work", file=sys.stderr)
        return lifecycle.WRONG_CONFIG
    with log_setup.logs_shown():
        if parsed.workers == 1 and not parsed.reload:
            from aerobee.app.process.application_process import run_application

            return run_application(parsed.application)
        return _supervise(parsed)


def _supervise(parsed: argparse.Namespace) -> int:
    import asyncio

    from aerobee.app.process.source_watch import SourceWatch
    from aerobee.app.process.supervisor import Supervisor

    async def live() -> int:
        command = [sys.executable, "-m", "aerobee", "run", parsed.application]
        watch = SourceWatch(os.getcwd()) if parsed.reload else None
        return await Supervisor(command, parsed.workers, watch=watch).run()

    return asyncio.run(live())
