"""A walk over every request code: nobody, users without the right, the user with exactly the right
and a super user send it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from aerobee.model.access import Rule
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.assignment import RequestMode, encode_request_mode
from aerobee.protocol.bodies.batch_ack import BatchAck, BatchAckEntry, encode_batch_ack
from aerobee.protocol.bodies.group_config import encode_group_config, encode_group_configs
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.locks import LockRequest, encode_lock_request
from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.bodies.subscription import (
    SubscriptionCheck,
    encode_subscription_check,
    make_subscription,
)
from aerobee.protocol.bodies.topic_table import encode_topic_configs
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_text import write_compact
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
from tests.broker_kit import BrokerKit
from tests.nameserver_kit import NameServerKit

ORDERS = TopicConfig("Orders", 4, 4)
OTHER = TopicConfig("Other", 4, 4)
INNER_ONLY = "inner"
"""Instead of rules: no rule allows it."""


class Sample(NamedTuple):
    fields: Mapping[str, str]
    body: bytes
    rules: tuple[tuple[str, str], ...]
    """The resource and action of each rule that is needed."""


def topic(action: str, *, field: str = "topic") -> Sample:
    return Sample({field: "Orders"}, b"", (("Topic:Orders", action),))


def group(action: str, *, field: str = "consumerGroup") -> Sample:
    return Sample({field: "g"}, b"", (("Group:g", action),))


def both(action: str, *, field: str = "consumerGroup") -> Sample:
    rules = (("Topic:Orders", action), ("Group:g", action))
    return Sample({field: "g", "topic": "Orders"}, b"", rules)


def with_body(body: bytes, *rules: tuple[str, str]) -> Sample:
    return Sample({}, body, rules)


def cluster(action: str) -> Sample:
    return Sample({}, b"", (("Cluster:DefaultCluster", action),))


INNER_SAMPLE = Sample({}, b"", ((INNER_ONLY, ""),))
SUB_BOTH = (("Topic:Orders", "Sub"), ("Group:g", "Sub"))
QUEUE = MessageQueue("Orders", "broker-a", QueueId(0))
SUBSCRIPTION = make_subscription("Orders")


def _alike() -> dict[int, Sample]:
    """Codes of which several are asked for in the same way."""
    found = dict.fromkeys((29, 30, 31, 32), topic("Sub"))
    found |= dict.fromkeys((202, 300, 351, 354), topic("Get"))
    found |= dict.fromkeys((203, 307), group("Get"))
    found |= dict.fromkeys((343, 352), group("Get", field="group"))
    found |= dict.fromkeys((222, 353), both("Update", field="group"))
    found |= dict.fromkeys((223, 303, 345), both("Get", field="group"))
    found |= dict.fromkeys((310, 320, 325, 28002), topic("Pub", field="b"))
    found |= dict.fromkeys((200050, 200051, 200052, 200053, 200054), both("Sub"))
    update = (25, 306, 316, 329, 513, 906, 908, 2001, 2002, 2004, 5001, 28008, 200056, 200079)
    found |= dict.fromkeys((*update, 3001, 3002, 3003, 3006, 3007, 3008), cluster("Update"))
    get = (21, 26, 28, 201, 204, 305, 315, 317, 328, 355, 907, 1007, 2003, 28001)
    found |= dict.fromkeys((*get, 200074, 200075, 200078, 3004, 3005, 3009, 3010), cluster("Get"))
    found |= dict.fromkeys((43, 45, 60, 61, 402, 905, 28007, 28009), INNER_SAMPLE)
    return found


def _by_fields() -> dict[int, Sample]:
    return {
        10: topic("Pub"),
        11: both("Sub"),
        12: topic("Sub"),
        14: both("Get"),
        15: both("Update"),
        17: topic("Create"),
        38: group("Get"),
        207: group("Delete", field="groupName"),
        215: topic("Delete"),
        324: topic("Pub"),
        361: both("Sub"),
        370: topic("Pub"),
        28003: topic("Pub"),
        28004: topic("Pub"),
        28006: topic("Pub"),
        200055: both("Get"),
        208: Sample(
            {"consumerGroup": "g", "topicList": "Orders;Other"},
            b"",
            (("Group:g", "Get"), ("Topic:Orders", "Get"), ("Topic:Other", "Get")),
        ),
        308: Sample(
            {"topic": "Orders", "compareGroup": "g", "filterGroups": "f"},
            b"",
            (("Topic:Orders", "Get"), ("Group:g", "Get"), ("Group:f", "Get")),
        ),
        321: Sample(
            {"topic": "Orders", "consumerGroup": "g"},
            b"",
            (("Topic:Orders", "Get"), ("Group:g", "Get")),
        ),
        314: Sample(
            {"srcGroup": "f", "destGroup": "g", "topic": "Orders"},
            b"",
            (("Group:f", "Get"), ("Group:g", "Update"), ("Topic:Orders", "Update")),
        ),
    }


def broker_samples(place: int) -> dict[int, Sample]:
    """`place` is the log offset of a message of Orders."""
    message_id = f"7F00000100002A9F{place:016X}"
    ack = BatchAckEntry("g", "Orders", "0", 0, 0, 0, 1, 1000, (0,))
    beat = Heartbeat("c", ("p",), (ConsumerBeat("g", subscriptions=(SUBSCRIPTION,)),))
    by_message = {"offset": str(place), "group": "g", "topic": "Other", "originTopic": "Other"}
    question = write_compact(
        {
            "topic": "Orders",
            "consumerGroup": "g",
            "clientId": "c",
            "strategyName": "AVG",
            "messageModel": "CLUSTERING",
        }
    )
    lock = encode_lock_request(LockRequest("c", "g", (QUEUE,)))
    found = {
        18: with_body(encode_topic_configs([ORDERS]), ("Topic:Orders", "Create")),
        33: Sample(by_message, b"", (("Topic:Orders", "Get"),)),
        34: with_body(encode_heartbeat(beat), *SUB_BOTH),
        35: Sample({"clientID": "c", "consumerGroup": "g"}, b"", (("Group:g", "Sub"),)),
        36: Sample(by_message, b"", SUB_BOTH),
        37: Sample(
            {"commitLogOffset": str(place), "topic": "Other"}, b"", (("Topic:Orders", "Pub"),)
        ),
        41: with_body(lock, *SUB_BOTH),
        42: with_body(lock, *SUB_BOTH),
        46: with_body(
            encode_subscription_check(SubscriptionCheck("g", SUBSCRIPTION), "c"), ("Group:g", "Sub")
        ),
        200: with_body(encode_group_config(GroupConfig("g")), ("Group:g", "Update")),
        225: with_body(encode_group_configs([GroupConfig("g")]), ("Group:g", "Update")),
        309: Sample(
            {"consumerGroup": "g", "msgId": message_id, "topic": "Other", "clientId": "c"},
            b"",
            SUB_BOTH,
        ),
        323: Sample({"msgId": message_id}, b"", (("Topic:Orders", "Update"),)),
        400: with_body(question, *SUB_BOTH),
        401: with_body(
            encode_request_mode(RequestMode("Orders", "g")),
            ("Topic:Orders", "Update"),
            ("Group:g", "Update"),
        ),
        28005: with_body(encode_places([place]), ("Topic:Orders", "Pub")),
        200151: with_body(encode_batch_ack(BatchAck("broker-a", (ack,))), *SUB_BOTH),
    }
    return {**found, **_by_fields(), **_alike()}


def nameserver_samples() -> dict[int, Sample]:
    found = {105: topic("Get")}
    found |= dict.fromkeys((103, 104, 322, 901, 904, 28010), INNER_SAMPLE)
    found |= dict.fromkeys((100, 102, 205, 216, 217, 318, 327), cluster("Update"))
    found |= dict.fromkeys((101, 106, 206, 219, 224, 304, 311, 312, 313, 319), cluster("Get"))
    return found


def rules_for(wanted: tuple[tuple[str, str], ...]) -> list[Rule]:
    return [Rule(resource, (action,)) for resource, action in wanted if resource != INNER_ONLY]


BESIDE = (
    Rule("Topic:Other", ("Get", "Update", "Delete", "List")),
    Rule("Topic:Orders2*", ("All",)),
    Rule("Group:h", ("All",)),
    Rule("Cluster:AnotherCluster", ("All",)),
)
"""Rules for other things, and for other actions: they allow nothing that is asked for here."""


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
