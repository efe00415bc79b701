import pytest

from aerobee.errors import LocalProtocolError
from aerobee.protocol.grpc.resources import Timestamp
from aerobee.protocol.grpc.sent_fields import sent_fields
from tests.grpc_kit import message


def test_topic_queue_and_properties_are_named() -> None:
    fields = sent_fields(message(), "orders", 7, {"a": "b"}, 5_000)
    assert (fields["a"], fields["b"]) == ("orders", "orders")
    assert (fields["e"], fields["i"]) == ("7", "a\x01b\x02")


def test_the_birth_is_the_clients_or_now() -> None:
    born = message(born_timestamp=Timestamp(3))
    assert sent_fields(born, "orders", -1, {}, 5_000)["g"] == "3000"
    assert sent_fields(message(), "orders", -1, {}, 5_000)["g"] == "5000"


def test_properties_that_do_not_fit_are_refused() -> None:
    with pytest.raises(LocalProtocolError):
        sent_fields(message(), "orders", -1, {"a": "x" * 40_000}, 5_000)
