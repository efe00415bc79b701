from dataclasses import replace

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.duties_assembly import COMPACTION_REST_MS
from tests.broker_kit import CLIENT, OTHER, STORAGE, BrokerKit, create_fields, pull_fields
from tests.send_rig import send_frame
from tests.store_kit import draft, properties

ORDERS = TopicConfig("Orders", 4, 4)
NAME_SERVERS = ("10.0.0.1:9876", "10.0.0.2:9876")


def told_by(kit: BrokerKit) -> set[int]:
    """What both name servers were just asked; both say yes."""
    asked, kit.dialed = kit.dialed, []
    assert [dial.address for dial in asked] == list(NAME_SERVERS)
    for dial in asked:
        kit.answer_dial(dial)
    return {dial.command.code for dial in asked}


def test_name_servers_are_told_at_the_start_of_changes_and_at_the_end() -> None:
    kit = BrokerKit(addresses=NAME_SERVERS)
    kit.tick()
    assert told_by(kit) == {103}
    kit.tell(17, create_fields(ORDERS))
    kit.finish()
    assert b'"Orders"' in bytes(kit.dialed[0].command.body)
    assert kit.heard() == []  # not before they know it
    assert told_by(kit) == {103}
    (answer,) = kit.heard()
    assert answer.code == 0
    kit.stop()
    assert told_by(kit) == {104}


def test_everything_that_is_kept_is_there_after_a_restart() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}) * 3)
    kit.heard()
    kit.beat(subscriptions={"Orders": "*"})
    kit.pull(sysFlag=5, commitOffset=2)
    kit.send_frames(send_frame({"i": "UNIQ_KEY\x01i\x02DELAY\x013\x02", "e": "0"}, b"late"))
    kit.heard()
    kit.run(1_000)
    kit = kit.restarted()
    said = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}
    assert kit.ask(14, said).ext_fields["offset"] == "2"
    assert kit.ask(351, {"topic": "%RETRY%g"}).code == 0
    assert kit.ask(352, {"group": "g"}).code == 0
    kit.run(10_000, 500)
    assert kit.bodies()[-1] == b"late"
    # And once more: what was delivered is not delivered again.
    kit = kit.restarted()
    kit.run(10_000, 500)
    assert kit.bodies().count(b"late") == 1


def test_offsets_are_saved_now_and_then() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}) * 3)
    kit.heard()
    kit.pull(sysFlag=5, commitOffset=2)
    kit.run(6_000, 500)
    kit = kit.killed()
    said = {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}
    assert kit.ask(14, said).ext_fields["offset"] == "2"


def test_a_connection_that_closes_loses_its_pulls_its_membership_and_its_calls() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("a", subscriptions={"Orders": "*"}, producer="p")
    kit.tell(11, pull_fields(sysFlag=6))
    kit.close(CLIENT)
    kit.open(CLIENT)
    kit.send_frames(send_frame({"e": "0"}), OTHER)
    assert kit.heard(CLIENT) == []
    assert kit.ask(203, {"consumerGroup": "g"}).code == 206


def test_a_silent_client_is_dropped() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(client_ms_max=2_000))
    kit.beat("a", subscriptions={"Orders": "*"})
    kit.run(1_900)
    assert kit.closed == []
    kit.run(20_000, 1_000)
    assert kit.closed == [CLIENT]


def test_what_is_served_is_served_by_one_handler_each() -> None:
    kit = BrokerKit()
    served = [10, 11, 12, 14, 15, 17, 21, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 38, 41]
    served += [42, 43, 45, 46, 200, 201, 202, 203, 204, 207, 208, 215, 222, 223, 225, 300, 303]
    served += [305, 306, 307, 308, 309, 310, 314, 316, 317, 320, 324, 325, 328, 329, 343, 345]
    served += [351, 352, 353, 361]
    for code in served:
        assert kit.ask(code).code != 3, code


def test_a_broker_that_compacts_a_topic_is_called_again_soon() -> None:
    storage = replace(STORAGE, log_file_bytes=1 << 13, compaction_interval_ms=1000)
    topic = TopicConfig("Prices", 1, 1, attributes={"cleanup.policy": "COMPACTION"})
    kit = BrokerKit(topic, storage=storage).restarted()
    for topic_name in (b"Prices", *[b"Filler"] * 20):
        message = draft(topic_name, 0, bytes(900), properties(KEYS="k"))
        kit.store.append(message, kit.clock.now().wall_ms)
    rests = set()
    for _ in range(300):
        kit.tick(100)
        rests.add(kit.broker.rest_ms(kit.clock.now()))
        kit.work()
    assert min(rests) <= COMPACTION_REST_MS < kit.broker.rest_ms(kit.clock.now())
    queue = kit.store.queue(b"Prices", 0)
    assert queue is not None
    assert kit.store.kept_ms(queue, 0) is not None, "topics of the file are compacted, too"
