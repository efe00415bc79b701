"""`aerobee chaos`: breaks a Raft group on purpose, under load, and says what clients saw of it.

While it runs, a line for each fault goes to stderr; its result goes to stdout. Status 4: a message
was lost, out of order, or is not what was sent.

Imports more than 15 modules because it puts the parts of a run together.
"""

import argparse
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from aerobee.cli.cluster_verbs import Verbs, whole_from
from aerobee.cli.command_parser import HelpLayout
from aerobee.cli.examples import laid_out
from aerobee.cli.output import FORMATS, OK, TABLE, UNHEALTHY, WrongUse, write_records, write_report
from aerobee.errors import Misuse

if TYPE_CHECKING:
    import asyncio

    from aerobee.app.chaos.chaos import ChaosOutcome, ChaosPlan, Event
    from aerobee.app.chaos.cluster import Fault

_EXAMPLES = """\
  aerobee chaos                                  three brokers of its own, all faults, 60 s
  aerobee chaos --duration 10m --nodes 5         for longer, and with five
  aerobee chaos --faults kill,pause --seed 7     only these, in the same order again
  aerobee chaos --plot chaos.svg -o json         a picture, and figures for programs
  aerobee chaos -n 127.0.0.1:9876                a cluster that runs, marked testCluster=true
"""
NODES = (3, 5, 7)
T = TypeVar("T")


def add_to(nouns: Verbs) -> None:
    text = "break a test cluster under load, and see what clients notice"
    parser = nouns.add_parser(
        "chaos",
        help=text,
        description=text,
        epilog=f"examples:\n{laid_out(_EXAMPLES)}",
        formatter_class=HelpLayout,
    )
    parser.add_argument("--duration", metavar="TIME", default="60s", help="(60s)")
    parser.add_argument(
        "--faults", metavar="A,B", help="of kill, stop, pause, cut, disk and clock (all of them)"
    )
    parser.add_argument("--calm", metavar="TIME", default="1s", help="between two faults (1s)")
    parser.add_argument("--rate", metavar="N", default="400", help="messages a second (400)")
    parser.add_argument("--senders", metavar="N", type=whole_from(1), default=4, help="(4)")
    parser.add_argument("--seed", metavar="N", type=whole_from(0), help="the same faults again")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--nodes",
        metavar="N",
        type=int,
        choices=NODES,
        default=3,
        help="brokers that it starts (3)",
    )
    where.add_argument(
        "-n",
        "--name-server",
        metavar="HOST:PORT",
        help="break a cluster that runs on this machine, and is marked with testCluster=true",
    )
    parser.add_argument("--broker", metavar="NAME", help="which group of it")
    parser.add_argument("--plot", metavar="FILE.svg", help="a picture")
    parser.add_argument("-o", "--output", choices=FORMATS, default=TABLE, help="(table)")
    parser.set_defaults(verb=run)


def run(parsed: argparse.Namespace) -> int:
    from aerobee.app.chaos import report

    plan = _plan(parsed)
    if parsed.plot and not parsed.plot.endswith(".svg"):
        raise WrongUse(f"{parsed.plot}: no such picture", hint="give a name that ends in .svg")
    if parsed.broker and not parsed.name_server:
        raise WrongUse("--broker is for a cluster that runs", hint="say where with -n HOST:PORT")
    is_shown = parsed.output == TABLE

    def told(event: "Event") -> None:
        if is_shown:
            print(
                f"{event.begun:7.1f} s  {event.fault.value:<5} {event.role:<8} {event.victim:<4} "
                f"gap {1000 * event.gap:7,.0f} ms, whole after {event.seconds:.1f} s",
                file=sys.stderr,
                flush=True,
            )

    outcome = _marked(parsed, plan, told) if parsed.name_server else _own(parsed, plan, told)
    if parsed.plot:
        report.write_svg(parsed.plot, outcome)
    if is_shown:
        _show(outcome)
    elif parsed.output in ("json", "yaml"):
        write_report(report.to_json(outcome), parsed.output, sys.stdout)
    else:
        write_records(report.gap_rows(outcome.events), parsed.output, sys.stdout)
    return OK if outcome.verdict.counts.is_sound else UNHEALTHY


def _show(outcome: "ChaosOutcome") -> None:
    import os

    from aerobee.app.chaos import report
    from aerobee.app.ink import ink_for

    ink = ink_for(sys.stdout, os.environ)
    print("\n".join(report.picture(outcome, ink)) + "\n")
    write_records(report.gap_rows(outcome.events), TABLE, sys.stdout, empty="no fault was done")
    for fault, why in outcome.skipped:
        print(f"{fault.value}: not done, {why}")
    print(f"\n{report.sentence(outcome)}")
    if text := report.problems(outcome):
        print(f"\n{text}", file=sys.stderr)


def _plan(parsed: argparse.Namespace) -> "ChaosPlan":
    import random

    from aerobee.app.chaos.chaos import ChaosPlan
    from aerobee.app.load.workload import amounts

    seed = parsed.seed if parsed.seed is not None else random.SystemRandom().randrange(1 << 32)
    try:
        rate = amounts.rate(parsed.rate)
        duration, calm = amounts.seconds(parsed.duration), amounts.seconds(parsed.calm)
    except Misuse as error:
        raise WrongUse(error.message, hint=error.hint) from None
    if rate is None:
        raise WrongUse("--rate takes a number", hint="a gap is seen at a fixed rate: --rate 400")
    return ChaosPlan(_faults(parsed.faults), duration, calm, parsed.senders, rate, seed)


def _faults(text: str | None) -> "Sequence[Fault]":
    from aerobee.app.chaos.cluster import Fault

    if text is None:
        return list(Fault)
    known = {one.value: one for one in Fault}
    wrong = [one for one in text.split(",") if one not in known]
    if wrong:
        raise WrongUse(f"{wrong[0]!r} is no fault", hint=f"there are: {', '.join(known)}")
    return [known[one] for one in text.split(",")]


def _own(
    parsed: argparse.Namespace, plan: "ChaosPlan", told: "Callable[[Event], None]"
) -> "ChaosOutcome":
    from aerobee.app.chaos.chaos import Chaos
    from aerobee.app.chaos.cluster import Fault
    from aerobee.app.chaos.own_cluster import own_cluster
    from aerobee.app.chaos.small_disk import why_no_disks
    from aerobee.app.data_folder import data_folder

    # Before any thread: mounts are those of a thread and of what it starts.
    no_disks = why_no_disks() if Fault.DISK in plan.faults else "no such fault is wanted"
    with data_folder(None, is_temporary=True) as folder:

        async def run(stop: "asyncio.Event") -> "ChaosOutcome":
            async with own_cluster(Path(folder.path), parsed.nodes, no_disks) as cluster:
                return await Chaos(plan, cluster, told, stop).run()

        return _until_interrupted(run)


def _marked(
    parsed: argparse.Namespace, plan: "ChaosPlan", told: "Callable[[Event], None]"
) -> "ChaosOutcome":
    from aerobee.app.chaos.chaos import Chaos
    from aerobee.app.chaos.marked_cluster import marked_cluster
    from aerobee.client.admin.admin import admin

    async def run(stop: "asyncio.Event") -> "ChaosOutcome":
        async with admin(parsed.name_server) as asking:
            cluster = await marked_cluster(asking, parsed.name_server, parsed.broker)
        return await Chaos(plan, cluster, told, stop).run()

    return _until_interrupted(run)


def _until_interrupted(work: "Callable[[asyncio.Event], Awaitable[T]]") -> T:
    """Run it. The first Ctrl-C ends it after the fault under way, with a result; the second aborts
    it."""
    import asyncio
    import signal

    from aerobee.app.process.log_setup import logs_shown
    from aerobee.client.connection.loop_portal import new_event_loop

    async def run() -> T:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            stop.set()
            loop.remove_signal_handler(signal.SIGINT)

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            return await work(stop)
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    # Lost connections are what it is about: nobody needs to be warned of them.
    with logs_shown("ERROR"), asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(run())
