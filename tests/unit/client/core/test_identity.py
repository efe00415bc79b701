from aerobee.client.core.identity import UniqueIds, client_id
from aerobee.model.message_id import UniqueId, parse_unique_id


def test_a_client_id_names_address_process_and_moment() -> None:
    assert client_id("10.0.0.1", 12, 345) == "10.0.0.1@12#345"
    assert client_id("10.0.0.1", 12, 345, unit="u") == "10.0.0.1@12#345@u"


def test_ids_tell_who_made_them_and_when_and_are_all_different() -> None:
    ids = UniqueIds("10.0.0.1", 70_000, 7)
    made = [ids.take(99) for _ in range(1000)]
    assert len(set(made)) == 1000
    assert parse_unique_id(made[0]) == UniqueId("10.0.0.1", 70_000 & 0xFFFF, 7, 99, 1)
    assert parse_unique_id(made[999]).counter == 1000


def test_more_ids_than_a_millisecond_has_are_all_different() -> None:
    ids = UniqueIds("10.0.0.1", 1, 7)
    made = [ids.take(99) for _ in range(140_000)]
    made += [ids.take(100) for _ in range(1000)]  # whose time has been used by others
    assert len(set(made)) == 141_000
    assert {parse_unique_id(made[n]).elapsed_ms for n in (0, 65_534)} == {99}
    assert parse_unique_id(made[-1]).elapsed_ms == 101


def test_ids_say_the_time_again_when_it_has_caught_up_or_a_month_begins() -> None:
    ids = UniqueIds("10.0.0.1", 1, 7)
    for _ in range(65_536):
        ids.take(2_000_000)
    told = [parse_unique_id(ids.take(now)).elapsed_ms for now in (2_000_000, 2_000_005, 3)]
    assert told == [2_000_001, 2_000_005, 3]


def test_a_counter_at_its_end_begins_again() -> None:
    ids = UniqueIds("::1", 1, 7)
    for _ in range(65_535):
        ids.take(1)
    assert parse_unique_id(ids.take(2)) == UniqueId("::1", 1, 7, 2, 0)
