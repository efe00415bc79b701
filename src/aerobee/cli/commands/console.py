"""`aerobee console`: serves the web console of a cluster.

It needs the packages of the extra `console`; without them it says how to install them.
"""

import argparse
import getpass
import os
import sys
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, target_of
from aerobee.cli.output import OK, WrongUse, is_terminal
from aerobee.cli.server_verbs import (
    INSTALL_CONSOLE,
    Flag,
    add_server_verb,
    given,
    serve,
    settings_from,
)

if TYPE_CHECKING:
    from aerobee.app.process.lifecycle import Part
    from aerobee.console.settings import ConsoleConfig

_EXAMPLES = """\
  aerobee console                              of the cluster at 127.0.0.1:9876, on port 8080
  aerobee console -n 10.0.0.1:9876             of another one
  aerobee console --port 8090 --login          with a log-in on loopback, too
  aerobee console -c console.conf --host 0.0.0.0    for other machines: with a log-in, by TLS
  aerobee console --set-password alice --role operator
"""
_FILE = Flag("config", "", "settings, key=value in lines", "FILE", "-c")
_SETTINGS = (
    Flag("host", "bindAddress", "address to listen on (127.0.0.1); others need TLS and a log-in"),
    Flag("insecure", "insecure", "be open to other machines without TLS", is_switch=True),
    Flag("port", "listenPort", "port to listen on (8080; 0: any)", "N"),
    Flag("data", "dataPath", "where history and users are kept", "DIR"),
    Flag("login", "loginRequired", "ask for a log-in on loopback, too", is_switch=True),
)


def add_to(nouns: Verbs) -> None:
    text = "the cluster in a browser: figures, topics, groups, messages"
    parser = add_server_verb(nouns, "console", text, start, (_FILE, *_SETTINGS), _EXAMPLES)
    parser.add_argument("-n", "--name-server", metavar="HOST:PORT", help="(127.0.0.1:9876)")
    parser.add_argument("--context", metavar="NAME", help="a cluster by name; see `context`")
    parser.add_argument(
        "--set-password", metavar="USER", help="add a user, or change its password and role; exit"
    )
    parser.add_argument("--remove-user", metavar="USER", help="remove a user; exit")
    parser.add_argument(
        "--role",
        choices=("viewer", "operator", "admin"),
        default="viewer",
        help="of the user (viewer)",
    )


def start(parsed: argparse.Namespace) -> int:
    settings = _settings(parsed)
    if settings is not None and parsed.set_password:
        return _set_password(parsed, settings)
    if settings is not None and parsed.remove_user:
        return _remove_user(parsed.remove_user, settings)
    return serve(settings, lambda told: ([_part(told)], []), is_quiet=True)


def _settings(parsed: argparse.Namespace) -> "ConsoleConfig | None":
    from aerobee.app.settings.config import Given
    from aerobee.console.settings import read_settings

    flags = given(parsed, _SETTINGS)
    is_told = parsed.name_server or parsed.context
    if is_told or parsed.config is None:
        flags.append(Given("namesrvAddr", target_of(parsed), "--name-server"))
    return settings_from(lambda: read_settings(parsed.config, os.environ, flags))


def _part(settings: "ConsoleConfig") -> "Part":
    try:
        from aerobee.console.console_part import ConsolePart
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("aerobee"):
            raise
        raise WrongUse(INSTALL_CONSOLE) from None
    return ConsolePart(settings)


def _set_password(parsed: argparse.Namespace, settings: "ConsoleConfig") -> int:
    from aerobee.console.session import accounts
    from aerobee.console.session.visitor import role_of

    path = os.path.join(settings.folder, accounts.FILE)
    if is_terminal(sys.stdin):
        password = getpass.getpass(f"password of {parsed.set_password}: ")
    else:
        password = sys.stdin.readline().rstrip("\n")
    accounts.put_account(path, parsed.set_password, role_of(parsed.role), password)
    print(
        f"{parsed.set_password} may log in as {parsed.role}; a running console knows it at once, "
        "and ends former sessions of this user"
    )
    return OK


def _remove_user(name: str, settings: "ConsoleConfig") -> int:
    from aerobee.console.session import accounts

    accounts.remove_account(os.path.join(settings.folder, accounts.FILE), name)
    print(f"{name} may not log in any more; a running console ends this user's sessions")
    return OK
