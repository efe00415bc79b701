"""`sign_dials` signs the requests that a broker or a name server sends to others, as the brokers'
own user (innerClientAuthenticationCredentials).

A member of a Raft group that hands a request on signs it, too, and names its user in a field
(`ASKED_BY`), which is believed of the brokers' own user only.
"""

from aerobee.model.access import Credentials
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.signature import sign_fields

ASKED_BY = "aerobeeAskedBy"


def sign_dials(effects: Effects, credentials: Credentials) -> None:
    """Sign every request among the effects that goes to another server."""
    for effect in effects:
        if isinstance(effect, Dial):
            command = effect.command
            sign_fields(command.ext_fields, bytes(command.body), credentials)
