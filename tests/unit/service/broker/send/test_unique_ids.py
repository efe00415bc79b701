from aerobee.model.message_id import parse_unique_id
from aerobee.ports.clock import Now
from aerobee.service.broker.send.unique_ids import UniqueIds


def test_no_two_ids_are_equal() -> None:
    ids = UniqueIds("127.0.0.1", 10911)
    now = Now(1_794_732_382_394, 0)
    assert len({ids.next(now) for _ in range(70_000)}) == 70_000


def test_an_id_has_the_form_that_clients_give() -> None:
    text = UniqueIds("127.0.0.1", 10911).next(Now(1_794_732_382_394, 0))
    assert len(text) == 32
    assert parse_unique_id(text).address == "127.0.0.1"
    assert len(UniqueIds("::1", 10911).next(Now(0, 0))) == 56
