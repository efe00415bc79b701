"""Runs an application of handlers as a process: imports `module:app`, runs it until a signal.

stdout   only `ready: billing, audit`: the groups, when they have joined
status   0 stopped by a signal, 1 failed while it ran, 2 there is no such application
"""

import asyncio
import logging
import os
import signal
import sys
from importlib import import_module

from aerobee.app.process.lifecycle import FAILED, STOPPED, WRONG_CONFIG
from aerobee.client.application.app import App
from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.errors import AerobeeError, Misuse

_log = logging.getLogger(__name__)


def load_application(place: str) -> App:
    """Import `package.module:name`, also from the current folder. Misuse."""
    module_name, colon, name = place.partition(":")
    if not colon or not module_name or not name:
        raise Misuse(f"{place!r} names no application", hint="say module:app")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # of what the module itself imports: its own mistake, with its own traceback
        is_file = module_name.endswith(".py")
        raise Misuse(
            f"there is no module {module_name!r}",
            hint=f"say {module_name.removesuffix('.py')}:{name}, a module and not its file"
            if is_file
            else "run it in the folder that has it",
        ) from None
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, App):
        raise Misuse(f"{name!r} in {module_name} is no aerobee.App")
    return found


def run_application(place: str) -> int:
    """Import the application and handle messages until stopped; returns the exit status."""
    try:
        application = load_application(place)
    except Misuse as error:
        print(f"aerobee: {error}", file=sys.stderr)
        return WRONG_CONFIG
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_live(application))


async def _live(application: App) -> int:
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(application.run(ready=_say_ready))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    try:
        await running
    except asyncio.CancelledError:
        _log.info("stopped")
        return STOPPED
    except AerobeeError as error:
        print(f"aerobee: {error}", file=sys.stderr)
        return FAILED
    return STOPPED


def _say_ready(application: App) -> None:
    print(f"ready: {', '.join(application.groups)}", flush=True)
