"""`aerobee up`: runs a name server and brokers in one process, for trying things out; the members
of a Raft group in processes of their own, so that one can be killed.

All files are in one folder that can be deleted; they are small. Once ready it prints the addresses
and commands to try; `--demo` shows traffic.

Imports more than 15 modules because it puts the parts of the process together.
"""

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.cli.server_verbs import add_server_verb, serve, settings_from

if TYPE_CHECKING:
    from aerobee.app.banner import ShownBroker
    from aerobee.app.data_folder import DataFolder
    from aerobee.app.members.member_group import MemberGroup
    from aerobee.app.process.broker_process import BrokerPart
    from aerobee.app.process.lifecycle import Part
    from aerobee.app.process.nameserver_process import NameServerPart
    from aerobee.app.settings.up_settings import UpFlags, UpSettings
    from aerobee.cli.cluster_verbs import Verbs

_EXAMPLES = """\
  aerobee up                       name server on 9876, broker on 10911, console on 8080
  aerobee up --demo                with live sample topics, and a picture of them
  aerobee up --store try           keep messages in ./try instead of ./data
  aerobee up --temp                keep nothing
  aerobee up --brokers 3           three masters in this process
  aerobee up --slaves 1            a master, and a slave that copies it
  aerobee up --brokers 2 --slaves 1 --replication sync
  aerobee up --nodes 3 --replication raft          a group that elects its leader
  aerobee up --nodes 3 --replication raft --demo   and a key that kills the leader
  aerobee up --port 20911 --nameserver-port 29876
"""


def add_to(nouns: "Verbs") -> None:
    text = "run a name server and a broker in one process, to try things out"
    parser = add_server_verb(nouns, "up", text, start, (), _EXAMPLES)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--store", metavar="DIR", help="where everything is kept (./data)")
    place.add_argument(
        "--temp", action="store_true", help="in a temporary folder, removed at the stop"
    )
    parser.add_argument("--demo", action="store_true", help="live sample topics, shown as they go")
    parser.add_argument("--brokers", metavar="N", type=int, default=1, help="masters (1)")
    parser.add_argument("--slaves", metavar="N", type=int, default=0, help="of each master (0)")
    parser.add_argument(
        "--replication",
        choices=("async", "sync", "raft"),
        help="sync: a send is acknowledged when a slave has it, too (async); raft: brokers that"
        " elect their leader",
    )
    parser.add_argument("--nodes", metavar="N", type=int, help="members of the Raft group (3)")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="log what happens, not only what goes wrong"
    )
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--insecure",
        action="store_const",
        const="true",
        help="be open to other machines though nobody is asked who it is",
    )
    parser.add_argument("--port", metavar="N", help="the first broker's port (10911; 0: any)")
    parser.add_argument(
        "--nameserver-port", metavar="N", help="the name server's port (9876; 0: any)"
    )
    console = parser.add_mutually_exclusive_group()
    console.add_argument(
        "--console-port",
        metavar="N",
        help="the console's port (8080; with --port: any; 0: any)",
    )
    console.add_argument("--no-console", action="store_true", help="without the web console")


def start(parsed: argparse.Namespace) -> int:
    from aerobee.app.data_folder import data_folder
    from aerobee.app.process import lifecycle
    from aerobee.app.settings import up_settings

    with data_folder(parsed.store, is_temporary=parsed.temp) as folder:
        flags = flags_of(parsed, folder.path)
        settings = settings_from(lambda: up_settings.read_settings(flags, os.environ))
        status = serve(
            settings, lambda told: _life(told, folder, parsed), is_quiet=not parsed.verbose
        )
    if status == lifecycle.STOPPED:
        left = "nothing is left" if parsed.temp else f"data stays in {folder.shown}"
        lifecycle.say(f"stopped; {left}")
    return status


def flags_of(parsed: argparse.Namespace, folder: str) -> "UpFlags":
    from aerobee.app.demo.story import SETTINGS
    from aerobee.app.settings.up_settings import UpFlags

    return UpFlags(
        folder,
        parsed.host,
        parsed.port,
        parsed.nameserver_port,
        parsed.brokers,
        parsed.slaves,
        parsed.replication,
        SETTINGS if parsed.demo else None,
        parsed.insecure,
        parsed.nodes,
    )


def _life(
    settings: "UpSettings", folder: "DataFolder", parsed: argparse.Namespace
) -> "tuple[Sequence[Part], Sequence[Part]]":
    from aerobee.app.banner import Banner, Kept
    from aerobee.app.process.broker_process import BrokerPart
    from aerobee.app.process.nameserver_process import NameServerPart
    from aerobee.app.settings.up_settings import brokers_kept, slaves_kept
    from aerobee.service.broker.assembly import build_broker

    nameserver = NameServerPart(settings.nameserver)
    shown: Sequence[ShownBroker]
    parts: Sequence[Part]
    group: MemberGroup | None = None
    if settings.members:
        group = _group(settings, nameserver, is_verbose=parsed.verbose)
        shown, parts = group.members, [group]
    else:
        brokers = [
            BrokerPart(one, build_broker, nameservers=lambda: [nameserver.address])
            for one in settings.brokers
        ]
        shown, parts = brokers, _together(brokers)
    kept = Kept(brokers_kept(folder.path), slaves_kept(folder.path))
    banner = Banner(nameserver, shown, folder, kept)
    guests: list[Part] = [banner]
    if not parsed.no_console:
        from aerobee.cli.console_guest import ConsoleGuest

        console = ConsoleGuest(parsed, folder.path, lambda: nameserver.address)
        banner = Banner(nameserver, shown, folder, kept, lambda: console.said)
        guests = [console, banner]
    if parsed.demo and group is not None:
        guests.append(_group_demo(nameserver, group, folder))
    elif parsed.demo:
        guests.append(_demo(nameserver, shown[0], folder))
    return [nameserver, *parts], guests


def _group(
    settings: "UpSettings", nameserver: "NameServerPart", *, is_verbose: bool
) -> "MemberGroup":
    from aerobee.app.members.member_group import MemberGroup

    level = "INFO" if is_verbose else "WARNING"
    return MemberGroup(settings.members, lambda: nameserver.address, level=level)


def _together(brokers: "Sequence[BrokerPart]") -> "Sequence[Part]":
    if all(one.replication.role.is_master for one in brokers):
        return brokers
    from aerobee.app.process.broker_group import BrokerGroup

    return [BrokerGroup(brokers)]


def _demo(nameserver: "NameServerPart", broker: "ShownBroker", folder: "DataFolder") -> "Part":
    import sys

    from aerobee.app.banner import programs_here, reachable
    from aerobee.app.demo.demo import Demo
    from aerobee.app.demo.picture import Places
    from aerobee.app.ink import ink_for, is_screen

    command = programs_here().aerobee

    def places() -> Places:
        metrics = broker.metrics_address and reachable(broker.metrics_address)
        return Places(reachable(nameserver.address), metrics, folder.shown, command)

    is_drawn = is_screen(sys.stdout, os.environ)
    return Demo(places, ink_for(sys.stdout, os.environ), is_drawn=is_drawn)


def _group_demo(nameserver: "NameServerPart", group: "MemberGroup", folder: "DataFolder") -> "Part":
    import sys

    from aerobee.app.banner import programs_here, reachable
    from aerobee.app.demo.group_demo import GroupDemo
    from aerobee.app.demo.group_picture import GroupPlaces
    from aerobee.app.ink import ink_for, is_screen

    command = programs_here().aerobee

    def places() -> GroupPlaces:
        return GroupPlaces(reachable(nameserver.address), folder.shown, command)

    is_drawn = is_screen(sys.stdout, os.environ)
    return GroupDemo(group, places, ink_for(sys.stdout, os.environ), is_drawn=is_drawn)
