from aerobee.service.broker.statistics.flow import Flow


def test_what_was_added_is_in_the_totals_at_once_and_in_the_windows_when_noted() -> None:
    flow = Flow()
    flow.add(2, 300)
    assert (flow.messages, flow.bytes) == (2, 300)
    assert flow.past(50_000, 0)[0].minute.sum == 0
    flow.note(5)
    messages, size = flow.past(50_000, 0)
    assert (messages.minute.sum, size.minute.sum) == (2, 300)


def test_nothing_is_noted_twice() -> None:
    flow = Flow()
    flow.add(2, 300)
    flow.note(5)
    flow.note(5)
    flow.add(1, 50)
    flow.note(6)
    messages, size = flow.past(60_000, 0)
    assert (messages.day.sum, size.day.sum) == (3, 350)


def test_a_flow_can_be_told_what_it_is_in_all() -> None:
    flow = Flow()
    flow.reach(5, 50)
    flow.note(1)
    flow.reach(7, 80)
    flow.note(2)
    assert flow.past(20_000, 0)[0].minute.sum == 7


def test_a_flow_without_anything_has_a_past_of_nothing() -> None:
    assert Flow().past(20_000, 0)[1].day.sum == 0
