"""Puts the messaging service of gRPC in front of a broker, by a desk in the same process
(`inner_desk`).
"""

from aerobee.ports.rpc import CallTaker
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.fast_inner_desk import FastInnerDesk
from aerobee.service.broker.inner_desk import InnerDesk
from aerobee.service.broker.parts import Parts
from aerobee.service.broker.request_table import Reception
from aerobee.service.in_place.calls_in_place import CallsInPlace
from aerobee.service.proxy.entry_points import OwnEntryPoints
from aerobee.service.proxy.messaging_service import MessagingService
from aerobee.service.proxy.rpc_door import NoneInPlace, RpcDoor


def build_rpc_door(
    identity: BrokerIdentity, body_bytes_max: int, parts: Parts, reception: Reception
) -> RpcDoor | None:
    """The door for calls of gRPC; None: they are not served."""
    if identity.grpc_address is None:
        return None
    desk = InnerDesk(identity.name, body_bytes_max, parts, reception)
    messaging = MessagingService(
        desk,
        OwnEntryPoints(identity.name, identity.grpc_address),
        parts.outbox,
        parts.calls.on_response,
    )
    in_place: CallTaker = NoneInPlace()
    if identity.takes_messages:
        fast = FastInnerDesk(parts, reception)
        clients, renewals = messaging.clients, messaging.renewals
        in_place = CallsInPlace(fast, desk.find_topic, clients, renewals, parts.outbox)
    return RpcDoor(messaging, reception.gate, reception.limits, in_place)
