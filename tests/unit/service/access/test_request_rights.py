"""A walk over every request code: nobody, users without the right, the user with exactly the right
and a super user send it."""

from collections.abc import Iterator

import pytest

from aerobee.model.access import Rule
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.request_rights import RIGHTS
from aerobee.service.access.table_text import encode_table, transfer_key
from tests.access_kit import (
    ACCESS,
    INNER,
    ask_as,
    guarded_broker,
    is_refused,
    make_user,
    set_rules,
    signed,
)
from tests.access_samples import (
    BESIDE,
    INNER_ONLY,
    ORDERS,
    OTHER,
    Sample,
    broker_samples,
    nameserver_samples,
    rules_for,
)
from tests.broker_kit import BrokerKit
from tests.nameserver_kit import NameServerKit


def asked(kit: BrokerKit, name: str | None, code: int, sample: Sample) -> RemotingCommand | None:
    """The answer, if there is one at once: a pull may be held."""
    kit.tell(code, signed(name, sample.fields, sample.body), sample.body)
    kit.finish()
    found = [command for command in kit.heard() if command.is_response]
    return found[0] if found else None


def passes(kit: BrokerKit, name: str | None, code: int, sample: Sample) -> bool:
    answer = asked(kit, name, code, sample)
    return answer is None or not is_refused(answer)


def walked() -> Iterator[tuple[int, Sample]]:
    yield from sorted(broker_samples(0).items())


@pytest.mark.parametrize("code", [code for code, _ in walked()])
def test_a_request_to_a_broker_needs_exactly_its_right(code: int) -> None:
    kit = guarded_broker(ORDERS, OTHER)
    sent = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}
    assert ask_as(kit, "root", 310, sent, b"body").code == 0
    place = kit.messages()[0].log_offset
    sample = broker_samples(place)[code]
    for name in ("without", "beside", "exactly"):
        make_user(kit, name)
    set_rules(kit, "beside", *BESIDE)
    set_rules(kit, "exactly", *rules_for(sample.rules))
    assert not passes(kit, None, code, sample)
    assert not passes(kit, "stranger", code, sample)
    assert not passes(kit, "without", code, sample)
    assert not passes(kit, "beside", code, sample)
    if (INNER_ONLY, "") in sample.rules:
        set_rules(kit, "exactly", Rule("*", ("All",)))
        assert not passes(kit, "exactly", code, sample)
        assert passes(kit, "inner", code, sample)
    else:
        for left_out in range(len(sample.rules)):
            set_rules(
                kit,
                "exactly",
                *rules_for(sample.rules[:left_out] + sample.rules[left_out + 1 :]),
            )
            assert not passes(kit, "exactly", code, sample), sample.rules[left_out]
        set_rules(kit, "exactly", *rules_for(sample.rules))
        assert passes(kit, "exactly", code, sample)
    assert passes(kit, "root", code, sample)


def test_every_request_that_a_broker_serves_is_walked() -> None:
    assert set(broker_samples(0)) == set(guarded_broker().broker.table)


def nameserver_kit(table: AccessTable) -> NameServerKit:
    kit = NameServerKit(access=ACCESS)
    body = encode_table(table, transfer_key(INNER))
    fields = {"clusterName": "DefaultCluster", "brokerName": "broker-a", "digest": "1"}
    assert ask_as(kit, "inner", 28010, fields, body).code == 0
    return kit


@pytest.mark.parametrize("code", sorted(nameserver_samples()))
def test_a_request_to_a_name_server_needs_exactly_its_right(code: int) -> None:
    sample = nameserver_samples()[code]
    broker = guarded_broker()
    for name in ("without", "beside", "exactly"):
        make_user(broker, name)
    set_rules(broker, "beside", *BESIDE)
    is_inner = (INNER_ONLY, "") in sample.rules
    exactly = [Rule("*", ("All",))] if is_inner else rules_for(sample.rules)
    set_rules(broker, "exactly", *exactly)
    store = broker.broker.reception.gate.realms()[0].accounts
    kit = nameserver_kit(store.table)
    for nobody in (None, "stranger", "without", "beside"):
        assert is_refused(ask_as(kit, nobody, code, sample.fields, sample.body))
    assert is_refused(ask_as(kit, "exactly", code, sample.fields, sample.body)) is is_inner
    for super_user in ("root", "inner"):
        assert not is_refused(ask_as(kit, super_user, code, sample.fields, sample.body))


def test_every_request_that_a_name_server_serves_is_walked() -> None:
    kit = NameServerKit(access=ACCESS)
    served = [
        code
        for code in RequestCode
        if "does not serve" not in ask_as(kit, "root", code).remark
        and "not supported" not in ask_as(kit, "root", code).remark
    ]
    assert set(nameserver_samples()) == set(served)


def test_a_code_without_a_row_is_refused_whoever_asks() -> None:
    kit = guarded_broker()
    assert 999 not in RIGHTS
    assert ask_as(kit, None, 999).code == 16
    answer = ask_as(kit, "root", 999)
    assert (answer.code, "no rule says" in answer.remark) == (3, True)


def test_a_handler_without_a_row_is_never_called() -> None:
    kit = guarded_broker()
    kit.broker.table[999] = kit.broker.table[28]
    assert ask_as(kit, "root", 999).code == 3


def test_a_retry_topic_is_its_groups() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "u", Rule("Group:g", ("Sub",)), Rule("Topic:Orders", ("Sub",)))
    own = Sample({"consumerGroup": "g", "topic": "%RETRY%g"}, b"", ())
    popped = Sample({"consumerGroup": "g", "topic": "%RETRY%g_Orders"}, b"", ())
    others = Sample({"consumerGroup": "g", "topic": "%RETRY%h"}, b"", ())
    secret = Sample({"consumerGroup": "g", "topic": "%RETRY%g_Other"}, b"", ())
    for code in (11, 361, 200050, 200051, 200054, 14, 15):
        assert passes(kit, "u", code, own)
        assert passes(kit, "u", code, popped)
        assert not passes(kit, "u", code, others)
        assert not passes(kit, "u", code, secret)


def test_a_message_is_handed_back_to_a_retry_topic_by_its_group_only() -> None:
    kit = guarded_broker()
    make_user(kit, "u", Rule("Group:g", ("Sub",)), Rule("Topic:*", ("Pub",)))
    assert passes(kit, "u", 310, Sample({"b": "%RETRY%g"}, b"", ()))
    assert not passes(kit, "u", 310, Sample({"b": "%RETRY%h"}, b"", ()))


def test_producers_need_no_right_to_be_there() -> None:
    kit = guarded_broker()
    make_user(kit, "u")
    beat = encode_heartbeat(Heartbeat("c", ("p",), ()))
    assert passes(kit, "u", 34, Sample({}, beat, ()))
    assert passes(kit, "u", 35, Sample({"clientID": "c", "producerGroup": "p"}, b"", ()))


def test_a_name_that_is_left_out_is_covered_by_rules_for_all_names_only() -> None:
    kit = guarded_broker()
    make_user(kit, "some", Rule("Topic:T*", ("All",)), Rule("Group:*", ("All",)))
    make_user(kit, "all", Rule("Topic:*", ("All",)), Rule("Group:*", ("All",)))
    for code in (11, 30, 310, 215, 28005):
        empty = Sample({}, encode_places([]) if code == 28005 else b"", ())
        assert not passes(kit, "some", code, empty)
        assert passes(kit, "all", code, empty)


def test_what_cannot_be_read_is_refused() -> None:
    kit = guarded_broker()
    make_user(kit, "u", Rule("*", ("All",)))
    for code, body in ((34, b"["), (41, b"{}"), (200151, b"?"), (36, b"")):
        answer = ask_as(kit, "u", code, {}, body)
        assert (answer.code, answer.remark) == (16, "parse authorization context error.")


def test_every_producer_may_ask_where_new_topics_are_made() -> None:
    table = guarded_broker()
    make_user(table, "u")
    kit = nameserver_kit(table.broker.reception.gate.realms()[0].accounts.table)
    assert not is_refused(ask_as(kit, "u", 105, {"topic": "TBW102"}))
    assert is_refused(ask_as(kit, "u", 105, {"topic": "Orders"}))
    assert is_refused(ask_as(kit, None, 105, {"topic": "TBW102"}))
