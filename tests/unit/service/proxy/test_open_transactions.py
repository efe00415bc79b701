from aerobee.service.proxy.open_transactions import HalfPlace, OpenTransactions


def test_a_half_is_found_by_topic_and_id_and_the_newest_place_counts() -> None:
    table = OpenTransactions()
    table.add("t", "x", HalfPlace("a", 100, 1))
    table.add("t", "x", HalfPlace("a", 200, 2))
    assert table.find("t", "x") == HalfPlace("a", 200, 2)
    assert table.find("other", "x") is None


def test_an_ended_one_is_remembered_with_its_decision() -> None:
    table = OpenTransactions()
    table.add("t", "x", HalfPlace("a", 100, 1))
    table.end("t", "x", 2)
    table.end("t", "unknown", 2)
    assert table.find("t", "x") == HalfPlace("a", 100, 1, 2)
    assert len(table) == 1


def test_the_oldest_go_when_there_are_too_many() -> None:
    table = OpenTransactions(halves_max=2)
    for name in ("a", "b", "a", "c"):
        table.add("t", name, HalfPlace("a", 1, 1))
    assert [table.find("t", name) is not None for name in "abc"] == [True, False, True]
