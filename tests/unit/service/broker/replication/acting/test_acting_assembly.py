"""An acting master as a whole: what waits in the log of its master comes through another one."""

from dataclasses import replace

import pytest

from aerobee.model.broker_role import Stage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.properties import decode_properties
from aerobee.model.route import BrokerData
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import Rebuild
from aerobee.protocol.bodies.locks import LockRequest, encode_lock_request, encode_locked
from aerobee.protocol.bodies.topic_route import encode_member_group
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerIdentity
from tests.acting_kit import ACTS, NAME_SERVER, ActingKit, route_to
from tests.broker_kit import BrokerKit
from tests.pop_kit import INVISIBLE_MS, PopKit
from tests.transaction_kit import COMMIT, ROLLBACK, begin, end_fields
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
LEVEL_2_MS = 5_000


def send(kit: BrokerKit, body: bytes, **properties: str) -> None:
    text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items())
    fields = {**JAVA_FIELDS, "b": "Orders", "e": "1", "i": text}
    assert kit.ask(310, fields, body).code == 0


def log_of(kit: BrokerKit) -> bytes:
    return kit.disk.read("store/commitlog/00000000000000000000")


def saved_delay_offset(kit: BrokerKit) -> str:
    return bytes(kit.ask(45).body).decode()


def test_a_delayed_message_is_sent_to_another_master_when_it_is_due_without_its_delay() -> None:
    master = BrokerKit(ORDERS)
    send(master, b"later", DELAY="2", KEYS="k")
    acting = ActingKit(master)
    before = log_of(acting)
    acting.run(LEVEL_2_MS - 1_500)
    assert acting.sent == []
    acting.run(2_000)
    ((header, body),) = acting.sent
    assert (body, header.topic, header.queue_id) == (b"later", "Orders", 1)
    properties = decode_properties(header.properties.encode())
    assert (properties["KEYS"], "DELAY" in properties) == ("k", False)
    assert log_of(acting) == before


def test_progress_is_saved_when_the_other_master_has_acknowledged_and_not_before() -> None:
    master = BrokerKit(ORDERS)
    send(master, b"later", DELAY="2")
    acting = ActingKit(master)
    acting.send_code = None
    acting.run(LEVEL_2_MS + 10_000)
    assert acting.tried > 1
    assert "2:1" not in saved_delay_offset(acting)
    acting.send_code = 0
    acting.run(10_000)
    assert acting.bodies_sent() == [b"later"]
    assert "2:1" in saved_delay_offset(acting)


def test_what_was_not_acknowledged_is_sent_again_after_a_stop() -> None:
    master = BrokerKit(ORDERS)
    send(master, b"later", DELAY="2")
    acting = ActingKit(master)
    acting.send_code = 2
    acting.run(LEVEL_2_MS + 1_000)
    acting.stop()
    again = ActingKit(acting)
    again.run(2_000)
    assert again.bodies_sent() == [b"later"]


@pytest.mark.parametrize("escapes", [False, True])
def test_without_escapes_or_another_master_everything_waits_for_the_master(escapes: bool) -> None:
    master = BrokerKit(ORDERS)
    send(master, b"later", DELAY="2")
    acting = ActingKit(master, escapes=escapes)
    acting.route = None
    acting.run(LEVEL_2_MS + 10_000)
    assert acting.tried == 0
    acting.stop()
    back = BrokerKit(disk=acting.disk, storage=acting.store.config, clock=acting.clock)
    back.run(1_000)
    assert back.bodies("Orders", 1) == [b"later"]


def test_an_acting_master_of_another_name_is_sent_nothing() -> None:
    master = BrokerKit(ORDERS)
    send(master, b"later", DELAY="2")
    acting = ActingKit(master)
    acting.route = route_to("10.0.0.30:10911", permission=4)
    acting.run(LEVEL_2_MS + 3_000)
    assert acting.tried == 0


def test_a_message_for_a_time_comes_at_its_time() -> None:
    master = BrokerKit(ORDERS)
    at = master.clock.now().wall_ms + 8_000
    send(master, b"timed", TIMER_DELIVER_MS=str(at))
    acting = ActingKit(master)
    acting.run(5_000)
    assert acting.sent == []
    acting.run(4_000)
    ((header, body),) = acting.sent
    assert (body, "TIMER_DELIVER_MS" in header.properties) == (b"timed", False)


def test_an_open_transaction_becomes_one_of_the_other_master() -> None:
    master = BrokerKit(ORDERS)
    begin(master, b"half")
    acting = ActingKit(master)
    acting.run(10_000)
    ((header, body),) = acting.sent
    properties = decode_properties(header.properties.encode())
    assert (body, header.topic, header.sys_flag & 0xC) == (b"half", "Orders", 4)
    assert (properties["TRAN_MSG"], "REAL_TOPIC" in properties) == ("true", False)
    assert header.producer_group == properties["PGROUP"]
    acting.stop()
    again = ActingKit(acting)
    again.run(10_000)
    assert again.sent == [], "its offset was saved"


def test_a_half_that_no_other_master_has_acknowledged_stays_open() -> None:
    master = BrokerKit(ORDERS)
    begin(master, b"half")
    acting = ActingKit(master)
    acting.send_code = None
    acting.run(10_000)
    acting.stop()
    again = ActingKit(acting)
    again.run(10_000)
    assert again.bodies_sent() == [b"half"]


def test_a_transaction_ends_at_the_acting_master() -> None:
    master = BrokerKit(ORDERS)
    first, second = begin(master, b"yes"), begin(master, b"no", unique_id="id-2")
    acting = ActingKit(master)
    acting.run(200)
    for half, outcome in ((first, COMMIT), (second, ROLLBACK)):
        acting.tell(37, end_fields(half, outcome))
    acting.run(10_000)
    assert [answer.code for answer in acting.heard()] == [0, 0]
    ((header, body),) = acting.sent
    assert (body, header.sys_flag & 0xC, "TRAN_MSG" in header.properties) == (b"yes", 0, False)


def test_a_popped_message_comes_back_unless_it_was_acknowledged() -> None:
    master = PopKit()
    master.fill(2)
    first, _ = master.pop()
    master.ack(first)
    master.run(500)
    acting = ActingKit(master)
    before = log_of(acting)
    acting.run(INVISIBLE_MS + 5_000)
    ((header, body),) = acting.sent
    assert (body, header.topic) == (b"m1", "%RETRY%g_Orders")
    assert log_of(acting) == before
    acting.stop()
    again = ActingKit(acting)
    again.run(INVISIBLE_MS + 5_000)
    assert again.sent == [], "the timer's progress was saved"


def test_records_of_pops_whose_copies_are_not_acknowledged_are_not_passed() -> None:
    master = PopKit()
    master.fill(1)
    master.pop()
    master.run(500)
    acting = ActingKit(master)
    acting.send_code = None
    acting.run(INVISIBLE_MS + 5_000)
    acting.stop()
    again = ActingKit(acting)
    again.run(5_000)
    assert again.bodies_sent() == [b"m0"]


def test_a_record_of_pops_that_has_to_wait_on_waits_for_the_master() -> None:
    master = PopKit()
    invisible_ms = 3 * master._told[0].timer_window_slots * 1_000
    master.fill(1)
    master.pop(invisibleTime=invisible_ms)
    acting = ActingKit(master)
    acting.run(invisible_ms, step_ms=1_000)
    assert acting.tried == 0, "another master has got a record of queues that it does not have"
    acting.stop()
    back = PopKit(disk=acting.disk, storage=acting.store.config, clock=acting.clock)
    back.run(10_000)
    assert back.bodies_popped() == [b"m0"]


def test_sends_and_pops_are_refused_and_offsets_and_locks_are_served() -> None:
    master = PopKit()
    master.fill(2)
    popped, *_ = master.pop(maxMsgNums=1)
    acting = ActingKit(master)
    refused = {
        310: {**JAVA_FIELDS, "b": "Orders"},
        200050: master.fields(),
        200051: master.ack_fields(popped),
        200053: {**master.ack_fields(popped), "invisibleTime": "20000"},
    }
    for code, fields in refused.items():
        acting.tell(code, fields)
        assert [one.code for one in acting.heard()] == [14], code
    offset = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}
    assert acting.ask(15, {**offset, "commitOffset": "1"}).code == 0
    assert acting.ask(14, offset).ext_fields["offset"] == "1"
    queue = MessageQueue("Orders", "broker-a", QueueId(0))
    for client, got in (("one", [queue]), ("other", [])):
        body = encode_lock_request(LockRequest(client, "g", (queue,)))
        assert acting.ask(41, body=body).body == encode_locked(got)


def test_a_slave_becomes_an_acting_master_and_a_slave_again() -> None:
    slave = replace(ACTS, master_ha_address="")
    identity = BrokerIdentity(broker_id=1, address="10.0.0.2:10911", replication=slave)
    kit = BrokerKit(identity=identity, addresses=[NAME_SERVER])
    members = encode_member_group(BrokerData("DefaultCluster", "broker-a", {1: "10.0.0.2:10911"}))
    for _ in range(60):
        kit.tick(100)
        dials, kit.dialed[:] = list(kit.dialed), []
        for dial in dials:
            body = members if dial.command.code == 901 else b""
            effects = kit.broker.on_answer(
                dial.ticket, RemotingCommand(0, body=body), kit.clock.now()
            )
            kit.carry_out(effects)
    assert [one.stage for one in kit.wanted if isinstance(one, Rebuild)] == [Stage.ACTING]
    acting = ActingKit(kit)
    acting.run(3_000)
    assert acting.wanted == []
    acting.members = {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}
    acting.run(2_000)
    assert [one.stage for one in acting.wanted if isinstance(one, Rebuild)] == [Stage.USUAL]
