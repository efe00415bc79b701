import pytest

from aerobee.ports.clock import Now
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Timestamp
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.proxy.sent_fields import sent_fields
from tests.grpc_kit import message

NOW = Now(5_000, 5)


def test_topic_queue_and_properties_are_named() -> None:
    fields = sent_fields(message(), "orders", 7, {"a": "b"}, NOW)
    assert (fields["a"], fields["b"]) == ("orders", "orders")
    assert (fields["e"], fields["i"]) == ("7", "a\x01b\x02")


def test_the_birth_is_the_clients_or_now() -> None:
    born = message(born_timestamp=Timestamp(3))
    assert sent_fields(born, "orders", -1, {}, NOW)["g"] == "3000"
    assert sent_fields(message(), "orders", -1, {}, NOW)["g"] == "5000"


def test_properties_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CallRefused) as refusal:
        sent_fields(message(), "orders", -1, {"a": "x" * 40_000}, NOW)
    assert refusal.value.status.code == GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE
