import pytest

from aerobee.ports.clock import Now
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Timestamp
from aerobee.service.proxy.group_queues import queue_of_group
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.proxy.sent_fields import sent_fields
from tests.grpc_kit import message, typed

NOW = Now(5_000, 5)


def test_a_message_of_a_group_names_its_queue_and_another_none() -> None:
    topic = typed("orders", "FIFO", queues=8)
    grouped = sent_fields(message(message_group="x"), topic, {"a": "b"}, NOW)
    assert grouped["e"] == str(queue_of_group("x", 8))
    plain = sent_fields(message(), topic, {"a": "b"}, NOW)
    assert (plain["e"], plain["b"], plain["i"]) == ("-1", "orders", "a\x01b\x02")


def test_the_birth_is_the_clients_or_now() -> None:
    topic = typed("orders", "NORMAL")
    assert sent_fields(message(born_timestamp=Timestamp(3)), topic, {}, NOW)["g"] == "3000"
    assert sent_fields(message(), topic, {}, NOW)["g"] == "5000"


def test_properties_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CallRefused) as refusal:
        sent_fields(message(), typed("orders", "NORMAL"), {"a": "x" * 40_000}, NOW)
    assert refusal.value.status.code == GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE
