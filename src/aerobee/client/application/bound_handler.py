"""`bound_handler` makes an application's function a message handler: annotations choose its
arguments.

    async def on_order(order: Order, message: Message, client: Client) -> None: ...

A parameter annotated with Message or Client gets that; one other parameter gets the body, converted
to its annotated type (`payload`), or the message if it has no annotation. A function that is not a
coroutine function runs on a thread, so that it does not block the loop.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, get_type_hints

from aerobee.client.api.message import Message
from aerobee.client.application.payload import BadPayload, payload_reader
from aerobee.client.client import Client
from aerobee.errors import Misuse

_log = logging.getLogger(__name__)

Function = Callable[..., Any]
Taken = Callable[[Message], Any]


def bound_handler(function: Function, client: Client) -> Callable[[Message], Awaitable[None]]:
    """A handler that calls the function with the arguments for each message. A message whose body
    does not fit becomes a dead letter at once, and the log says why.
    """
    taken = [how(client) for how in _parameters(function)]
    is_async = inspect.iscoroutinefunction(function)

    async def handle(message: Message) -> None:
        try:
            arguments = [take(message) for take in taken]
        except BadPayload as error:
            _log.error("%r cannot be handled by %s: %s", message, function.__name__, error)
            await message.reject(reason=str(error))
            return
        if is_async:
            await function(*arguments)
        else:
            await asyncio.to_thread(function, *arguments)

    return handle


def check_handler(function: Function) -> None:
    """Raise Misuse if the parameters of the function cannot be bound to a message."""
    _parameters(function)


def _parameters(function: Function) -> list[Callable[[Client], Taken]]:
    """The sources of the arguments, by position."""
    name = getattr(function, "__name__", repr(function))
    hints = get_type_hints(function)
    found: list[Callable[[Client], Taken]] = []
    payloads = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise Misuse(f"{name} takes any arguments", hint="name and annotate them")
        if parameter.default is not parameter.empty:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            raise Misuse(f"nobody gives {name} its {parameter.name}", hint="give it a default")
        annotation = hints.get(parameter.name, Message)
        if annotation is Client:
            found.append(lambda client: lambda message: client)
        elif annotation is Message:
            found.append(lambda client: lambda message: message)
        else:
            payloads.append(parameter.name)
            found.append(_reading(annotation))
    if len(payloads) > 1:
        raise Misuse(
            f"{name} takes {' and '.join(payloads)}, but a message has one body",
            hint="annotate the others with Message or Client",
        )
    if not found:
        raise Misuse(f"{name} takes no message", hint="give it a parameter")
    return found


def _reading(annotation: Any) -> Callable[[Client], Taken]:
    read = payload_reader(annotation)
    return lambda client: lambda message: read(message.body)
