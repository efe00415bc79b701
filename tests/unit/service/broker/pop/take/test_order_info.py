import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact
from aerobee.service.broker.pop.take.order_info import OrderInfo, order_info_from, order_info_json

NOW = 1_700_000_000_000


def info(*offsets: int, attempt_id: str = "a", pop_time: int = NOW) -> OrderInfo:
    return OrderInfo(list(offsets), pop_time, 10_000, attempt_id)


def test_others_wait_until_every_message_that_is_not_acknowledged_is_visible() -> None:
    had = info(5, 6, 7)
    assert had.blocked_until("b") == NOW + 10_000
    had.visible_ms[6] = NOW + 30_000
    assert had.blocked_until("b") == NOW + 30_000
    assert had.ack(6)
    assert had.blocked_until("b") == NOW + 10_000
    assert had.ack(5)
    assert had.ack(7)
    assert had.blocked_until("b") == 0


def test_the_attempt_that_has_them_may_have_them_again() -> None:
    assert info(5).blocked_until("a") == 0
    assert info(5, attempt_id="").blocked_until("") == NOW + 10_000


def test_the_group_stands_at_the_first_message_that_is_not_acknowledged() -> None:
    had = info(5, 6, 9)
    assert had.next_offset() == 5
    assert had.ack(6)
    assert had.next_offset() == 5
    assert had.ack(5)
    assert had.next_offset() == 9
    assert had.ack(9)
    assert had.next_offset() == 10
    assert not had.ack(8)


def test_a_message_that_is_handed_out_again_is_counted() -> None:
    first = info(5, 6)
    second = info(5, 6, 7, attempt_id="b").after(first)
    assert second.counts == {5: 1, 6: 1}
    third = info(6, attempt_id="c").after(second)
    assert third.counts == {6: 2}
    assert info(6, attempt_id="c").after(third).counts == {6: 2}


def test_it_is_written_as_apache_writes_it() -> None:
    had = info(5, 6, 9)
    had.ack(6)
    had.counts = {5: 1}
    had.visible_ms = {9: NOW + 1}
    had.consumed_ms = NOW
    text = write_compact(order_info_json(had))
    assert text == (
        b'{"a":"a","cm":2,"i":10000,"l":1700000000000,"o":[5,1,4],"oc":{5:1},'
        b'"ot":{9:1700000000001},"popTime":1700000000000}'
    )
    assert order_info_from(Members(parse(text), "it")) == had


@pytest.mark.parametrize(
    "text",
    [
        '{"o":[]}',
        "{}",
        '{"o":["x"]}',
        '{"o":[5,0]}',
        '{"o":[5,2,1]}',
        '{"o":' + str([5] * 65) + "}",
    ],
)
def test_offsets_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        order_info_from(Members(parse(text.encode()), "it"))
