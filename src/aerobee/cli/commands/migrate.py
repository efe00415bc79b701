"""`aerobee migrate`: moves a broker name from a running master, RocketMQ's or Aerobee's, to a new
Aerobee broker in this process; with `--to` from an Aerobee master back to a slave of RocketMQ.

Status 4: the rehearsal found a reason not to begin, and nothing was changed.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_verb,
    agrees,
    asked,
    say,
    target_of,
    write_shown,
)
from aerobee.cli.examples import laid_out
from aerobee.cli.server_verbs import serve, settings_from

if TYPE_CHECKING:
    from aerobee.app.diagnosis.finding import Finding
    from aerobee.app.migration.carried_settings import NewPlace
    from aerobee.app.migration.master_facts import MasterFacts
    from aerobee.app.migration.migration import Migration, MigrationPlan
    from aerobee.app.settings.broker_settings import BrokerSettings
    from aerobee.cli.server_verbs import Life

_EXAMPLES = """\
  aerobee migrate broker-a -n HOST:9876 --store /data/new --dry-run    could it be done?
  aerobee migrate broker-a -n HOST:9876 --store /data/new --follow     copy, and take over later
  aerobee migrate broker-a -n HOST:9876 --store /data/new              copy and take over
  aerobee migrate broker-a --store /data/new --stop-command 'ssh old mqshutdown broker'
  aerobee migrate broker-a -n HOST:9876 --to OLD:10911                 back to RocketMQ
"""

_DONE, _NOT_DONE, _UNFIT = 0, 1, 4
"""Exit statuses, as other commands have them."""


def add_to(nouns: Verbs) -> None:
    text = "move a broker from RocketMQ to Aerobee while it runs"
    parser = add_verb(nouns, "migrate", text, migrate)
    parser.epilog = f"examples:\n{laid_out(_EXAMPLES)}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("broker", help="the name of the broker")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--store", metavar="DIR", help="for the new broker")
    target.add_argument(
        "--to", metavar="HOST:PORT", help="hand over to this slave of RocketMQ, which runs already"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", metavar="N", type=int, default=10911, help="(10911; 0: any)")
    parser.add_argument("--ip", default="", help="address that clients use (as it listens)")
    parser.add_argument(
        "--follow", action="store_true", help="copy and compare; take over at another run"
    )
    parser.add_argument(
        "--compare",
        choices=("spread", "all"),
        default="spread",
        help="hashes of 64 ranges of the log, or of all of it (spread)",
    )
    parser.add_argument(
        "--stop-command",
        metavar="COMMAND",
        default="",
        help="stops the old master, when nothing is missing (a person is asked to)",
    )
    parser.add_argument(
        "--restart-command",
        metavar="COMMAND",
        default="",
        help="with --to: restarts the slave as the master (a person is asked to)",
    )
    add_care(parser)


def migrate(parsed: argparse.Namespace) -> int:
    from aerobee.app.diagnosis.finding import BAD, worst
    from aerobee.app.migration.carried_settings import NewPlace
    from aerobee.app.migration.master_facts import master_facts

    if parsed.to is not None:
        return _hand_over(parsed)
    place = NewPlace(os.path.abspath(parsed.store), parsed.host, parsed.port, parsed.ip)
    facts = asked(parsed, lambda admin: master_facts(admin, parsed.broker))
    findings = _rehearsed(facts, place)
    _show_findings(parsed, findings)
    if worst(findings) == BAD:
        print("nothing was changed", file=sys.stderr)
        return _UNFIT
    if parsed.dry_run:
        return _DONE
    verb = "copy the log of" if parsed.follow else "copy the log of, and replace,"
    if not agrees(parsed, f"{verb} the master of {facts.name} at {facts.address}"):
        return _NOT_DONE
    return _run(_plan(parsed, facts, place))


def _hand_over(parsed: argparse.Namespace) -> int:
    from aerobee.app.migration.hand_over import HandOver, look_at
    from aerobee.app.migration.operator_step import OperatorStep

    facts, seen = asked(parsed, lambda admin: look_at(admin, parsed.broker, parsed.to))
    say(parsed, seen)
    if parsed.dry_run:
        return _DONE
    if not agrees(parsed, f"replace the master of {facts.name} at {facts.address} by {parsed.to}"):
        return _NOT_DONE
    step = OperatorStep(parsed.restart_command)
    outcome = asked(
        parsed,
        lambda admin: HandOver(admin, facts, parsed.to, lambda line: say(parsed, line)).run(step),
    )
    if outcome.older:
        say(parsed, f"{len(outcome.older)} consumer offsets are older than here, and repeat")
    say(parsed, f"{parsed.to} is the master of {facts.name}, and {facts.address} its slave")
    say(parsed, f"gap: {outcome.seconds:.1f} s without sends")
    return _DONE


def _rehearsed(facts: "MasterFacts", place: "NewPlace") -> "list[Finding]":
    from aerobee.app.diagnosis.machine import disk_facts
    from aerobee.app.migration.rehearsal import rehearse

    return rehearse(facts, place, disk_facts(place.store).free_bytes)


def _show_findings(parsed: argparse.Namespace, findings: "Sequence[Finding]") -> None:
    if parsed.output != "table":
        write_shown(parsed, [one.to_json() for one in findings])
        return
    for one in findings:
        say(parsed, f"{one.level:<4} {one.area:<8} {one.subject}: {one.seen}")
        if one.change:
            say(parsed, f"              → {one.change}, because {one.why}")


def _plan(parsed: argparse.Namespace, facts: "MasterFacts", place: "NewPlace") -> "MigrationPlan":
    from aerobee.app.migration.carried_settings import carried_settings
    from aerobee.app.migration.migration import MigrationPlan
    from aerobee.app.migration.operator_step import OperatorStep

    carried, _ = carried_settings(facts.settings)
    return MigrationPlan(
        target_of(parsed),
        facts,
        place,
        carried,
        is_follow_only=parsed.follow,
        is_whole=parsed.compare == "all",
        stopping=OperatorStep(parsed.stop_command),
    )


def _run(plan: "MigrationPlan") -> int:
    """Start the new broker as a slave, with the migration as its guest."""
    from aerobee.app.settings.broker_settings import read_settings

    os.makedirs(plan.place.store, exist_ok=True)
    with open(plan.place.config_path, "w", encoding="utf-8") as file:
        file.write(plan.config(is_master=False))
    settings = settings_from(lambda: read_settings(plan.place.config_path, os.environ, []))
    guests: list[Migration] = []
    status = serve(settings, lambda told: _life(told, plan, guests), is_quiet=True)
    for guest in guests:
        if guest.error is not None:
            raise guest.error
    return status


def _life(settings: "BrokerSettings", plan: "MigrationPlan", guests: "list[Migration]") -> "Life":
    from aerobee.app.migration.migration import Migration
    from aerobee.app.process import lifecycle
    from aerobee.app.process.broker_process import BrokerPart
    from aerobee.service.broker.assembly import build_broker

    part = BrokerPart(settings, build_broker)
    guests.append(Migration(plan, lambda: part.holdings().messages, lifecycle.say))
    return [part], guests
