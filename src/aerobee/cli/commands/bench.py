"""`aerobee bench …`: a load test of any RocketMQ cluster, Apache's too.

While it runs, a line each second goes to stderr; its result goes to stdout. Status 4: slower than
the run it was compared with.
"""

import argparse
import contextlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from aerobee.cli.cluster_verbs import Verbs, add_noun, add_verb, target_of
from aerobee.cli.output import (
    FAILED,
    OK,
    TABLE,
    UNHEALTHY,
    WrongUse,
    write_records,
    write_report,
)
from aerobee.errors import Misuse

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

    from aerobee.app.load.result.result import Result
    from aerobee.app.load.run.planning import Limit
    from aerobee.app.load.workload.workload import Workload

_EXAMPLES = """\
  aerobee bench produce                               as fast as it goes, for 10 s
  aerobee bench produce --rate 20k --size 100-2000    a fixed rate, sizes in a range
  aerobee bench produce --batch 64 --processes 2 -o json > new.json
  aerobee bench produce --compare new.json --fail-if-slower 10
  aerobee bench consume --count 1m                    fill a topic, then receive it
  aerobee bench consume --topic orders --from earliest --duration 30s
  aerobee bench roundtrip --rate 1000 --plot run.html   from send to consumer
  aerobee bench latency --rate 100                    one send after the other
  aerobee bench roundtrip --workload omb.yaml         an OpenMessaging workload
  aerobee bench plan --p99 10ms                       the highest rate that holds it
  aerobee bench plan --daily 2e9 --size 1KiB --retention 3d --rate 80k
"""
_LATENCY_RATE = 100.0

T = TypeVar("T")


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "bench", "load tests: send, receive, time, plan", _EXAMPLES)
    for name, verb, text in (
        ("produce", produce, "send messages, as fast as it goes or at a fixed rate"),
        ("consume", consume, "receive messages of a topic, or of one that is filled first"),
        ("roundtrip", roundtrip, "send and receive, and time the way from one to the other"),
        ("latency", latency, "how long one send takes, one after the other"),
    ):
        parser = _verb(verbs, name, text, verb)
        _add_load(parser)
        _add_messages(parser, name)
        _add_outcome(parser)
    planning = _verb(verbs, "plan", "the highest rate within a latency, or a cluster's size", plan)
    _add_load(planning)
    _add_messages(planning, "plan")
    _add_plan(planning)


def _verb(
    verbs: Verbs, name: str, text: str, verb: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    examples = [line for line in _EXAMPLES.splitlines() if f"bench {name}" in line]
    parser = add_verb(verbs, name, text, verb)
    parser.epilog = "\n".join(["examples:", *examples])
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _add_load(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate", "--throughput", metavar="N", help="messages a second; max: as fast as it goes"
    )
    parser.add_argument("--duration", metavar="TIME", help="measured time (10s)")
    parser.add_argument("--warm-up", metavar="TIME", help="before that, not counted (1s)")
    parser.add_argument("--processes", type=int, metavar="N", help="that share the work (1)")
    parser.add_argument("--producers", type=int, metavar="N", help="clients that send")
    parser.add_argument("--in-flight", type=int, metavar="N", help="requests at once, each (256)")
    parser.add_argument("--topic", metavar="NAME", help="one that is there; else made and deleted")
    parser.add_argument("--topics", type=int, metavar="N", help="how many are made (1)")
    parser.add_argument("--queues", type=int, metavar="N", help="of each, on each broker (8)")
    parser.add_argument("--keep", action="store_true", help="do not delete what was made")
    parser.add_argument("--workload", metavar="FILE", help="an OpenMessaging workload, YAML")


def _add_messages(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "--size", "--record-size", metavar="BYTES", help="of a body: 1KiB, or 100-2000 (1024)"
    )
    parser.add_argument("--payload", metavar="FILE", help="what bodies are cut from")
    parser.add_argument("--batch", type=int, metavar="N", help="messages in one request (1)")
    if verb != "plan":
        parser.add_argument("--count", "--num-records", metavar="N", help="end after so many")
    if verb in ("consume", "roundtrip"):
        parser.add_argument("--groups", type=int, metavar="N", help="that each receive all (1)")
        parser.add_argument("--consumers", type=int, metavar="N", help="in each group (1)")
    if verb == "consume":
        parser.add_argument(
            "--from", dest="start", choices=("earliest", "latest"), help="(earliest)"
        )
        parser.add_argument("--backlog", metavar="N", help="messages sent before (100k)")


def _add_outcome(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", metavar="FILE", help="a picture: .html, .svg or .png")
    parser.add_argument("--compare", metavar="FILE", help="an earlier result, -o json")
    parser.add_argument(
        "--fail-if-slower",
        type=float,
        metavar="PERCENT",
        help="status 4 if rate, p50 or p99 are worse by more than that",
    )


def _add_plan(parser: argparse.ArgumentParser) -> None:
    for percentile in ("p50", "p99", "p99.9"):
        parser.add_argument(f"--{percentile}", metavar="TIME", help="the limit to be held")
    parser.add_argument("--precision", type=float, default=5.0, metavar="PERCENT", help="(5)")
    parser.add_argument("--daily", metavar="N", help="messages a day: plan a cluster")
    parser.add_argument("--retention", default="3d", metavar="TIME", help="how long (3d)")
    parser.add_argument("--peak", type=float, default=3.0, metavar="F", help="times average (3)")
    parser.add_argument("--headroom", type=float, default=0.6, metavar="SHARE", help="(0.6)")
    parser.add_argument("--copies", type=int, default=1, metavar="N", help="of a message (1)")
    parser.add_argument("--groups", type=int, default=1, metavar="N", help="that read all (1)")
    parser.add_argument("--spare", type=int, default=1, metavar="N", help="brokers more (1)")


def produce(parsed: argparse.Namespace) -> int:
    return _measure(parsed, "produce")


def consume(parsed: argparse.Namespace) -> int:
    return _measure(parsed, "consume", warm_up=0.0)


def roundtrip(parsed: argparse.Namespace) -> int:
    return _measure(parsed, "roundtrip")


def latency(parsed: argparse.Namespace) -> int:
    return _measure(parsed, "latency", rate=_LATENCY_RATE, in_flight=1)


def plan(parsed: argparse.Namespace) -> int:
    with _as_wrong_use():
        return _plan_size(parsed) if parsed.daily else _plan_rate(parsed)


def _measure(parsed: argparse.Namespace, kind: str, **defaults: Any) -> int:
    with _as_wrong_use():
        return _measured(parsed, kind, defaults)


@contextlib.contextmanager
def _as_wrong_use() -> Iterator[None]:
    """Turn a Misuse of flag values into a WrongUse."""
    try:
        yield
    except Misuse as error:
        raise WrongUse(error.message, hint=error.hint) from None


def _measured(parsed: argparse.Namespace, kind: str, defaults: dict[str, Any]) -> int:
    from aerobee.app.load.result.comparison import (
        check_kind,
        compare,
        differing_settings,
        read_result,
        slower,
    )
    from aerobee.app.load.result.plot import check_name, write_plot
    from aerobee.app.load.result.report import comparison_lines, summary
    from aerobee.app.load.run.live import Live
    from aerobee.app.load.run.trial import Trial

    workload = _workload(parsed, kind, defaults)
    before = None
    if parsed.plot:
        check_name(parsed.plot)
    if parsed.compare:
        before = read_result(_text_of(parsed.compare), parsed.compare)
        check_kind(before, kind)
    elif parsed.fail_if_slower is not None:
        raise Misuse("slower than what?", hint="--compare FILE says which earlier result")
    live = Live(kind, is_quiet=parsed.output != TABLE)

    async def run(stop: "asyncio.Event") -> "Result":
        trial = Trial(workload, target_of(parsed), live.told(), stop, keep=parsed.keep)
        return await trial.run()

    result = _run(run)
    live.end()
    said = result.to_json()
    changes = [] if before is None else compare(before, said)
    worse = slower(changes, parsed.fail_if_slower) if parsed.fail_if_slower is not None else []
    if parsed.output != TABLE:
        said["comparison"] = [one.to_json() for one in changes]
        write_report(said, parsed.output, sys.stdout)
    else:
        print(summary(result))
        if before is not None:
            print("\n" + comparison_lines(changes, differing_settings(before, said)))
    if parsed.plot:
        write_plot(parsed.plot, said)
    for one in worse:
        print(
            f"aerobee: {one.figure} is {one.slower_percent:.1f} % slower than in {parsed.compare}",
            file=sys.stderr,
        )
    if worse:
        return UNHEALTHY
    return OK if result.main.messages else FAILED


def _plan_rate(parsed: argparse.Namespace) -> int:
    from aerobee.app.load.result.report import plan_record

    limit = _limit(parsed)
    if limit is None:
        raise Misuse("no limit", hint="`bench plan --p99 10ms`, or --daily N for a cluster's size")
    records: list[dict[str, Any]] = []
    found = _find(
        parsed,
        limit,
        lambda result, holds: records.append(plan_record(result, limit.percentile, holds)),
    )
    if parsed.output != TABLE:
        said = {"rate": found.rate, "limit_ms": limit.ms, "steps": records}
        write_report(said, parsed.output, sys.stdout)
    else:
        write_records(records, TABLE, sys.stdout)
        print(textwrap.fill(_sentence(found, limit), 80))
    return OK if found.rate is not None else UNHEALTHY


def _sentence(found: Any, limit: "Limit") -> str:
    if found.rate is None:
        return f"No rate that was tried holds {limit.percentile} within {limit.ms:g} ms."
    return (
        f"{found.rate:,.0f}/s is the highest rate found that holds {limit.percentile} within "
        f"{limit.ms:g} ms; as fast as it goes: {found.flood.main.rate:,.0f}/s. "
        f"{found.best.verdict.sentence if found.best else ''}"
    )


def _plan_size(parsed: argparse.Namespace) -> int:
    from aerobee.app.load.run import capacity
    from aerobee.app.load.run.fleet import LoadFailed
    from aerobee.app.load.workload import amounts

    rate = None if parsed.rate is None else amounts.rate(parsed.rate)
    limit = _limit(parsed)
    source = "--rate"
    low, high = amounts.sizes(parsed.size or "1024")
    # What may be wrong with the volume is said before anything is measured.
    volume = capacity.Volume(
        amounts.count(parsed.daily),
        (low + high) / 2,
        amounts.seconds(parsed.retention),
        rate or 1.0,
        source,
        parsed.peak,
        parsed.headroom,
        parsed.copies,
        parsed.groups,
        parsed.spare,
    )
    if rate is None:
        if limit is None:
            raise Misuse(
                "how much a broker takes is not known",
                hint="--rate N says it, --p99 10ms has it measured on the cluster of -n",
            )
        found = _find(parsed, limit, lambda *_: None)
        if found.rate is None:
            raise LoadFailed(_sentence(found, limit), hint="a higher limit, or another machine")
        brokers = len(found.flood.brokers) if found.flood is not None else 1
        rate = found.rate / max(1, brokers)
        source = f"measured here, {limit.percentile} within {limit.ms:g} ms"
    from dataclasses import asdict, replace

    planned = capacity.plan(replace(volume, broker_rate=rate, rate_source=source))
    if parsed.output != TABLE:
        write_report(asdict(planned), parsed.output, sys.stdout)
        return OK
    for number, line in enumerate(planned.lines, 1):
        print(textwrap.fill(f"{number}. {line}", 80, subsequent_indent="   "))
    print(
        f"\n{planned.brokers} brokers, each with {amounts.shown_bytes(planned.disk_bytes)} of disk"
        f" and {amounts.shown_bytes(planned.memory_bytes)} of memory."
    )
    return OK


def _find(parsed: argparse.Namespace, limit: "Limit", step: Any) -> Any:
    from aerobee.app.load.run.live import Live
    from aerobee.app.load.run.planning import find_rate
    from aerobee.app.load.run.trial import Trial

    workload = _workload(parsed, "produce", {"duration": 5.0})
    live = Live("produce", is_quiet=parsed.output != TABLE)

    def told(result: "Result", holds: bool) -> None:
        live.end()
        reached = result.main.figures().get("latency_ms", {}).get(limit.percentile)
        wanted = result.workload.rate
        live.say(
            f"{'as fast as it goes' if wanted is None else f'{wanted:,.0f}/s'}: "
            f"{result.main.rate:,.0f}/s, {limit.percentile} {reached} ms, "
            f"{'holds' if holds else 'does not hold'}"
        )
        step(result, holds)

    async def run(stop: "asyncio.Event") -> Any:
        async def measure(one: "Workload") -> "Result":
            trial = Trial(one, target_of(parsed), live.told(), stop, keep=parsed.keep)
            return await trial.run()

        precision = parsed.precision / 100
        return await find_rate(workload, limit, measure, stop, told, precision=precision)

    found = _run(run)
    live.end()
    return found


def _limit(parsed: argparse.Namespace) -> "Limit | None":
    from aerobee.app.load.run.planning import Limit
    from aerobee.app.load.workload.amounts import seconds

    for percentile in ("p50", "p99", "p99.9"):
        text = getattr(parsed, percentile)
        if text is not None:
            return Limit(percentile, 1000 * seconds(text))
    return None


def _workload(parsed: argparse.Namespace, kind: str, defaults: dict[str, Any]) -> "Workload":
    """Build the workload: flags override the file, the file overrides the verb's defaults."""
    from dataclasses import replace

    from aerobee.app.load.workload import amounts
    from aerobee.app.load.workload.workload import Workload, from_openmessaging, read_yaml

    workload = Workload(kind=kind, **defaults)  # type: ignore[arg-type]
    if parsed.workload:
        workload = from_openmessaging(
            read_yaml(_text_of(parsed.workload), parsed.workload), workload
        )
    flags: dict[str, Any] = {}
    for name in ("processes", "producers", "in_flight", "topic", "topics", "queues", "batch"):
        flags[name] = getattr(parsed, name)
    if workload.is_consuming:  # groups of a plan are no groups of a run
        for name in ("groups", "consumers", "start"):
            flags[name] = getattr(parsed, name, None)
    flags["payload_path"] = parsed.payload
    for name in ("duration", "warm_up"):
        text = getattr(parsed, name)
        flags[name] = None if text is None else amounts.seconds(text)
    for name in ("count", "backlog"):
        text = getattr(parsed, name, None)
        flags[name] = None if text is None else amounts.count(text)
    given = {name: value for name, value in flags.items() if value is not None}
    if parsed.size is not None:
        given["size_min"], given["size_max"] = amounts.sizes(parsed.size)
    if parsed.rate is not None and kind != "plan":
        given["rate"] = amounts.rate(parsed.rate)
    return replace(workload, **given)


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise Misuse(f"{path} cannot be read: {reason}") from None


def _run(work: "Callable[[asyncio.Event], Awaitable[T]]") -> T:
    """Run the load test. The first Ctrl-C ends it early, with a result; the second aborts it."""
    import asyncio
    import signal

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

    return asyncio.run(run())
