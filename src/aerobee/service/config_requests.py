"""A configuration seen and changed by request: what is on its list of settings, nothing else.

All of a request is taken or nothing of it.
"""

from typing import TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.java_properties import parse_properties, write_properties
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, Request

C = TypeVar("C")

BODY_BYTES_MAX = 64 * 1024
"""Many times all settings that there are."""


def change_config(config: LiveConfig[C], request: Request) -> Answer | None:
    """Change what the request's body says, all of it or nothing; answered when it is saved."""
    if len(request.body) > BODY_BYTES_MAX:
        raise RemoteProtocolError(
            f"{len(request.body)} bytes of settings, at most {BODY_BYTES_MAX} are read"
        )
    try:
        text = request.body.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("the body is no UTF-8") from None
    values = {key: value for _, key, value in parse_properties(text)}
    forbidden = config.find_forbidden(values)
    if forbidden is not None:
        return Answer(
            ResponseCode.NO_PERMISSION, f"{forbidden[:100]} cannot be changed by a request"
        )
    try:
        config.change(values, request.answer_when_saved)
    except ValueError as error:
        raise RemoteProtocolError(str(error)) from None
    return None


def config_text(config: LiveConfig[C]) -> bytes:
    """Everything that may be shown, as a properties file."""
    return write_properties(config.texts()).encode()
