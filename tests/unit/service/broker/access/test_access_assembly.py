from aerobee.model.topic import TopicConfig
from aerobee.service.broker.access.access_assembly import topic_at
from tests.access_kit import ask_as, guarded_broker
from tests.broker_kit import BrokerKit

ORDERS = TopicConfig("Orders", 4, 4)
SEND = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}


def test_a_broker_without_users_says_why_it_has_none() -> None:
    for code in range(3001, 3011):
        answer = BrokerKit().ask(code)
        assert (answer.code, "authentication is not enabled" in answer.remark) == (3, True)


def test_a_message_that_waits_is_of_the_topic_that_it_is_for() -> None:
    kit = BrokerKit(ORDERS)
    end = kit.store.end_offset
    delayed = {**SEND, "i": "UNIQ_KEY\1id\2DELAY\0013\2"}
    half = {**SEND, "f": "4", "i": "UNIQ_KEY\1id\2TRAN_MSG\1true\2PGROUP\1p\2"}
    for fields in (SEND, delayed, half):
        place = kit.store.end_offset
        assert kit.ask(310, fields, b"x").code == 0
        assert topic_at(kit.store, place) == "Orders"
    assert topic_at(kit.store, end + 1) is None
    assert topic_at(kit.store, kit.store.end_offset) is None


def test_users_outlive_the_process() -> None:
    kit = guarded_broker(ORDERS)
    body = b'{"username":"alice","password":"alice-secret"}'
    assert ask_as(kit, "root", 3001, {"username": "alice"}, body).code == 0
    for again in (kit.restarted(), kit.power_cut()):
        assert ask_as(again, "alice", 28).remark.endswith("no matched policies.")
