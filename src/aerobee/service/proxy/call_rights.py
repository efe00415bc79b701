"""`check_rights` asks the gate whether the client of a call may have a request served."""

from collections.abc import Mapping

from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.access.gate import Gate
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import InnerRequest


def check_rights(gate: Gate, request: InnerRequest, host: str, metadata: Mapping[str, str]) -> None:
    """CallRefused: the signature in the metadata of a call from `host` is not right, or its user
    may not."""
    refusal = gate.refuse(request, host, CallSignature(metadata))
    if refusal is not None:
        raise CallRefused(GrpcCode.UNAUTHORIZED, refusal.remark)
