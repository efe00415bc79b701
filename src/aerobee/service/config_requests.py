"""Requests that show and change a configuration, restricted to its list of settings.

A request is applied whole or not at all; a refusal names every key at fault, with the reason.
Secrets are never shown to any client: only that a value is set.
"""

import re
from typing import TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.java_properties import parse_properties, write_properties
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, Request

C = TypeVar("C")

BODY_BYTES_MAX = 64 * 1024
"""Many times the size of all settings."""
FAULTS_SHOWN_MAX = 20
HIDDEN = "******"

# By its name, so that a new setting is hidden without a change here: passwords, keys of signatures,
# and RocketMQ's two that have users with their passwords.
_SECRET = re.compile(r"password|passwd|secret|accesskey|token|credential|authenticationuser", re.I)


def change_config(config: LiveConfig[C], request: Request) -> Answer | None:
    """Apply the settings in the request's body, all or none; answered when they are saved."""
    if len(request.body) > BODY_BYTES_MAX:
        raise RemoteProtocolError(
            f"{len(request.body)} bytes of settings, at most {BODY_BYTES_MAX} are read"
        )
    try:
        text = request.body.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("the body is no UTF-8") from None
    values = {key: value for _, key, value in parse_properties(text)}
    forbidden, misfits = config.find_forbidden(values), config.find_misfits(values)
    if forbidden:
        return Answer(ResponseCode.NO_PERMISSION, _refusal([*forbidden, *misfits]))
    if misfits:
        raise RemoteProtocolError(_refusal(misfits))
    config.change(values, request.answer_when_saved)
    return None


def config_text(config: LiveConfig[C]) -> bytes:
    """The settings that may be shown, as a properties file."""
    shown = {
        key: HIDDEN if value and is_secret(key) else value for key, value in config.texts().items()
    }
    return write_properties(shown).encode()


def is_secret(key: str) -> bool:
    """Whether the value of a setting is not to be shown."""
    return _SECRET.search(key) is not None


def _refusal(faults: list[str]) -> str:
    shown = "; ".join(faults[:FAULTS_SHOWN_MAX])
    more = len(faults) - FAULTS_SHOWN_MAX
    return f"nothing was changed: {shown}" + (f"; and {more} more" if more > 0 else "")
