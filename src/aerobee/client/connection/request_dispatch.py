"""`RequestDispatch` hands requests that brokers send to this client to handlers, by request code.

Several consumers may register for one code; a handler returns True if the request is for its group.
If none does, the broker is told REQUEST_CODE_NOT_SUPPORTED, unless the request is one-way.
"""

import logging
from collections.abc import Callable

from aerobee.errors import ConnectionLost, ProtocolError
from aerobee.net.line import Line
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

Handler = Callable[[Line, RemotingCommand], bool]
"""Whether the request was for it. It answers itself, now or later, with `Line.tell`."""


class RequestDispatch:
    def __init__(self) -> None:
        self._handlers: dict[int, list[Handler]] = {}

    def add(self, code: int, handler: Handler) -> None:
        self._handlers.setdefault(code, []).append(handler)

    def remove(self, code: int, handler: Handler) -> None:
        self._handlers[code].remove(handler)

    def serve(self, line: Line, command: RemotingCommand) -> None:
        """Hand a request to the first handler that takes it, or refuse it."""
        if command.excess:
            self._refuse(line, command, f"the request cannot be read: {command.excess}")
            return
        command.body = bytes(command.body)
        try:
            for handler in tuple(self._handlers.get(command.code, ())):
                if handler(line, command):
                    return
            self._refuse(line, command, "nobody of that name is here")
        except ProtocolError as error:
            _log.warning("a request of %s cannot be read: %s", line.address, error)
            self._refuse(line, command, f"the request cannot be read: {error}")

    def _refuse(self, line: Line, command: RemotingCommand, reason: str) -> None:
        if command.is_oneway:
            return
        try:
            line.tell(reply_to(command, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=reason))
        except ConnectionLost:
            _log.debug("%s does not wait for its answer", line.address)
