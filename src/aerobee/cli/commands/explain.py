"""`aerobee explain …`: explains why a message was not consumed, the state of a group, and what is
wrong with the slaves of a broker.

People get a few lines, each cause with the command to run next; programs get the same facts as
named fields, and the cause as one word.
"""

import argparse
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_noun, add_verb, asked
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import NOT_FOUND, OK, TABLE, Record, table, write_report
from aerobee.cli.progress import Progress

if TYPE_CHECKING:
    from aerobee.app.explaining.facts import GroupFacts, MessageFacts
    from aerobee.app.explaining.findings import CauseFinding
    from aerobee.client.admin.admin import Admin

_EXAMPLES = """\
  aerobee explain message C0A8000100002A9F0000000000000F00
  aerobee explain message C0A8000100002A9F0000000000000F00 --topic orders --group billing
  aerobee explain group billing                   who has which queue, and what is wrong
  aerobee explain group billing -o json
  aerobee explain broker broker-a                 master and slaves, and what is wrong
"""
_COLUMNS = 80


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(
        nouns, "explain", "why a message was not consumed; what a group does", _EXAMPLES
    )
    message = add_verb(verbs, "message", "why a message was not consumed", explain_message)
    message.add_argument("id", help="the sender's or the broker's")
    message.add_argument("--topic", default="", help="that it was sent to: else all are searched")
    message.add_argument("--group", default="", help="by this group: else all that consume it")
    group = add_verb(verbs, "group", "what a group does, and what is wrong", explain_group)
    group.add_argument("group")
    broker = add_verb(verbs, "broker", "a master and its slaves, and what is wrong", explain_broker)
    broker.add_argument("broker", help="its name")


def explain_message(parsed: argparse.Namespace) -> int:
    from aerobee.app.explaining import message_causes
    from aerobee.app.explaining.findings import Cause
    from aerobee.app.explaining.gathering import Gathering

    async def ask(admin: "Admin") -> "tuple[MessageFacts, list[GroupFacts]]":
        with Progress("searching topics") as progress:
            gathering = Gathering(admin, _now_ms, progress.step)
            return await gathering.message(parsed.id, topic=parsed.topic, group=parsed.group)

    facts, groups = asked(parsed, ask)
    findings = message_causes.explain_message(facts, groups)
    report = _message_report(facts)
    if parsed.output == TABLE:
        _write_facts(report)
        if not findings:
            print("\nnobody consumes it: no group has ever consumed its topic")
            print(f"  next: aerobee topic describe {facts.topic}")
        _write_findings(findings)
    else:
        write_report({**report, "findings": _records(findings)}, parsed.output, sys.stdout)
    return NOT_FOUND if Cause.NOT_FOUND in [one.cause for one in findings] else OK


def _message_report(facts: "MessageFacts") -> Record:
    found = facts.in_topic(facts.topic)
    report: dict[str, object] = {"message": facts.message_id, "topic": facts.topic or None}
    if found:
        broker, message = found[-1]
        report["queue"] = f"{broker}:{message.queue_id}"
        report["offset"] = message.queue_offset
        report["stored"] = shown_ms(message.store_timestamp)
        report["tag"] = message.tag or None
        report["keys"] = list(message.keys)
    return report


def explain_group(parsed: argparse.Namespace) -> int:
    from aerobee.app.explaining import group_causes
    from aerobee.app.explaining.findings import Cause
    from aerobee.app.explaining.gathering import Gathering

    async def ask(admin: "Admin") -> "GroupFacts":
        return await Gathering(admin, _now_ms).group(parsed.group)

    facts = asked(parsed, ask)
    findings = group_causes.explain_group(facts)
    report: Record = {
        "group": facts.group,
        "members": list(facts.members),
        "model": facts.model.value if facts.model is not None else None,
        "dead_letters": facts.dead_letters,
    }
    queues = _queue_records(facts)
    if parsed.output == TABLE:
        _write_facts(report)
        if queues:
            sys.stdout.write("\n" + table(queues, _width()))
        _write_findings(findings)
    else:
        whole = {**report, "queues": queues, "findings": _records(findings)}
        write_report(whole, parsed.output, sys.stdout)
    return NOT_FOUND if Cause.NO_GROUP in [one.cause for one in findings] else OK


def explain_broker(parsed: argparse.Namespace) -> int:
    from aerobee.app.explaining.replica_causes import explain_replicas
    from aerobee.cli.commands.broker_replicas import replica_records

    group = asked(parsed, lambda admin: admin.replicas.group(parsed.broker))
    findings = explain_replicas(group)
    records = list(replica_records(group))
    if parsed.output == TABLE:
        sys.stdout.write(table(records, _width()))
        _write_findings(findings)
    else:
        whole = {"broker": group.name, "replicas": records, "findings": _records(findings)}
        write_report(whole, parsed.output, sys.stdout)
    return OK


def _queue_records(facts: "GroupFacts") -> list[Record]:
    return [
        {
            "topic": queue.topic,
            "broker": queue.broker_name,
            "queue": queue.queue_id,
            "lag": state.lag,
            "at": state.at,
            "pull_age_s": _age(facts.now_ms, state.last_pull_ms),
            "consumed_age_s": _age(facts.now_ms, state.consumed_ms),
            "owner": state.owner or None,
        }
        for queue, state in sorted(facts.queues.items())
    ]


def _age(now_ms: int, wall_ms: int) -> int | None:
    return max(0, now_ms - wall_ms) // 1000 if wall_ms > 0 else None


def _records(findings: "Sequence[CauseFinding]") -> list[Record]:
    return [
        {"group": one.group or None, "cause": one.cause.value, "what": one.text, "next": one.next}
        for one in findings
    ]


def _write_facts(report: Record) -> None:
    write_report(
        {name: value for name, value in report.items() if value not in (None, [])},
        TABLE,
        sys.stdout,
        width=_width(),
    )


def _write_findings(findings: "Sequence[CauseFinding]") -> None:
    """Print a paragraph for each finding, never cut."""
    for one in findings:
        who = f"{one.group}: " if one.group else ""
        print()
        print(
            textwrap.fill(
                f"{who}{one.cause.value.upper()}: {one.text}",
                _width(),
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
        print(f"  next: {one.next}")


def _width() -> int:
    return shutil.get_terminal_size((_COLUMNS, 24)).columns


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
