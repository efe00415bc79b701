"""`sign_dials` signs the requests that a broker or a name server sends to others, as the brokers'
own user (innerClientAuthenticationCredentials).
"""

from aerobee.model.access import Credentials
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.signature import sign_fields


def sign_dials(effects: Effects, credentials: Credentials) -> None:
    """Sign every request among the effects that goes to another server."""
    for effect in effects:
        if isinstance(effect, Dial):
            command = effect.command
            sign_fields(command.ext_fields, bytes(command.body), credentials)
