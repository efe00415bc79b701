"""Duties: a slave delivers nothing by itself, a master does."""

from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.pair_kit import Pair, slave_identity
from tests.send_rig import send_frame
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)


def test_a_slave_has_fewer_duties_than_a_master() -> None:
    master, slave = BrokerKit(), BrokerKit(identity=slave_identity())
    assert len(slave.broker._duties.on_tick) < len(master.broker._duties.on_tick)
    assert slave.broker._duties.on_visible == ()


def test_a_delayed_message_is_delivered_by_the_master_and_only_copied_by_the_slave() -> None:
    pair = Pair(TOPIC)
    delayed = send_frame({"i": f"{JAVA_FIELDS['i']}\x02DELAY\x011"})
    pair.master.send_frames(delayed)
    pair.run(200)
    pair.is_cut = True
    pair.drop_link()
    pair.run(3_000)
    counts = [
        sum(len(kit.messages(TOPIC.name, queue_id)) for queue_id in range(8))
        for kit in (pair.master, pair.slave)
    ]
    assert counts == [1, 0]
