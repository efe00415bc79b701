"""SlaveSide: finds its master, follows it, refuses everything else."""

from dataclasses import replace

from aerobee.model.broker_role import BrokerRole
from aerobee.model.replica_status import FOLLOWING
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import LinkId, Peer, Rebuild
from aerobee.protocol.response_codes import ResponseCode
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.replication.slave_side import SlaveSide
from tests.broker_kit import BrokerKit
from tests.pair_kit import MASTER, Pair, slave_identity
from tests.send_rig import send_frame
from tests.store_kit import EVERYTHING, messages_of
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)


def side_of(kit: BrokerKit) -> SlaveSide:
    side = kit.broker._duties.links
    assert isinstance(side, SlaveSide)
    return side


def logs(pair: Pair) -> tuple[bytes, bytes]:
    return tuple(
        bytes(kit.store.log_slices(0, kit.store.end_offset)) for kit in (pair.master, pair.slave)
    )  # type: ignore[return-value]


def shown(kit: BrokerKit) -> list[bytes]:
    """Bodies that readers get, of all queues."""
    reads = [
        kit.store.read(TOPIC.name.encode(), n, 0, 100, EVERYTHING) for n in range(TOPIC.read_queues)
    ]
    return [message.body for read in reads for message in messages_of(read)]


def test_a_slave_has_the_bytes_of_its_master_and_shows_its_messages() -> None:
    pair = Pair(TOPIC)
    for number in range(20):
        pair.send(b"%d" % number)
        pair.run(10)
    pair.run()
    ours, copied = logs(pair)
    assert ours == copied
    for queue_id in range(TOPIC.read_queues):
        assert pair.slave.bodies(TOPIC.name, queue_id) == pair.master.bodies(TOPIC.name, queue_id)


def test_a_slave_that_follows_tells_its_own_end_of_the_connection() -> None:
    pair = Pair(TOPIC)
    side, now = side_of(pair.slave), pair.slave.clock.now()
    assert side.status(now).link == ""
    pair.run()
    side.on_link_open(LinkId(9), Peer("10.0.0.9", 1), False, now, "10.0.0.2:9")  # of a stranger
    assert side.status(pair.slave.clock.now()).link == "10.0.0.2:4"
    pair.is_cut = True
    pair.drop_link()
    pair.run(10)
    assert side.status(pair.slave.clock.now()).link == ""


def test_a_slave_learns_its_masters_topics() -> None:
    pair = Pair(TOPIC)
    pair.send()
    pair.run(8_000)
    answer = pair.slave.pull(topic=TOPIC.name, queueId="0", queueOffset="0")
    assert answer.code != ResponseCode.TOPIC_NOT_EXIST


def test_a_send_to_a_slave_is_refused_with_its_masters_address() -> None:
    pair = Pair(TOPIC)
    pair.run()
    end = pair.slave.store.end_offset
    pair.slave.send_frames(send_frame())
    (answer,) = pair.slave.heard()
    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert MASTER.address in answer.remark
    assert pair.slave.store.end_offset == end


def test_a_slave_that_lost_its_link_follows_again_from_where_it_is() -> None:
    pair = Pair(TOPIC)
    pair.send()
    pair.run()
    pair.is_cut = True
    pair.drop_link()
    for _ in range(5):
        pair.send()
    pair.run(1_000)
    status = side_of(pair.slave).status(pair.slave.clock.now())
    assert status.state != FOLLOWING
    assert "no connection" in status.why
    pair.is_cut = False
    pair.run(6_000)
    ours, copied = logs(pair)
    assert ours == copied
    assert side_of(pair.slave).status(pair.slave.clock.now()).state == FOLLOWING


def test_a_log_that_has_more_than_its_masters_asks_to_be_cut() -> None:
    first = Pair(TOPIC)
    first.send(b"both have it")
    first.run()
    at = first.slave.store.end_offset
    # The slave is promoted; both go on, each by itself.
    first.is_cut = True
    first.drop_link()
    first.send(b"only the old master has it")
    promoted = BrokerKit(disk=first.slave.disk.kill(), identity=MASTER, clock=first.slave.clock)
    promoted.send_frames(send_frame(body=b"only the new master has it"))
    old = first.master
    returned = BrokerKit(
        disk=old.disk.kill(),
        identity=slave_identity(),
        clock=old.clock,
    )
    pair = Pair(master=promoted, slave=returned)
    pair.run()
    (wish,) = [one for one in returned.wanted if isinstance(one, Rebuild)]
    assert wish.cut_at == at
    assert side_of(returned).status(returned.clock.now()).state == "diverged"


def test_a_master_that_returns_shows_no_tail_of_its_own_before_the_logs_were_compared() -> None:
    pair = Pair(TOPIC, in_sync=2)
    pair.run()
    pair.send(b"both have it")
    pair.run(1_000)
    assert pair.answers() == [ResponseCode.SUCCESS]
    pair.is_cut = True
    pair.send(b"only the old master has it")
    pair.run(1_000)
    old = BrokerKit(
        disk=pair.master.disk.kill(), identity=slave_identity(), clock=pair.master.clock
    )
    old.tick(10)
    assert shown(old) == [b"both have it"]
    follower = Pair(master=pair.master, slave=old)
    follower.run()
    assert shown(old) == [b"both have it", b"only the old master has it"]


def test_a_slave_that_was_told_its_master_asks_no_other_that_a_name_server_knows() -> None:
    pair = Pair(TOPIC)
    pair.run()
    side, now = side_of(pair.slave), pair.slave.clock.now()
    side.hear_of_master("10.0.0.9:10911", "10.0.0.9:10912", now)
    assert side.master() == MASTER.address
    side.hear_of_master("10.0.0.1:11111", MASTER.ha_address, now)
    assert side.master() == "10.0.0.1:11111"


def test_a_master_that_was_told_by_its_host_name_may_be_at_any_address() -> None:
    follows = ReplicationConfig(role=BrokerRole.SLAVE, master_ha_address="master.example:10912")
    side = side_of(BrokerKit(identity=replace(slave_identity(), replication=follows)))
    assert side.master() == "master.example:10911"
    side.hear_of_master("10.0.0.9:11111", "10.0.0.9:10912", Now(0, 0))
    assert side.master() == "10.0.0.9:11111"


def test_a_slave_that_begins_to_follow_copies_the_tables_at_once() -> None:
    pair = Pair(TOPIC)
    pair.is_cut = True
    pair.run(300)  # long enough for a copy that fails
    pair.is_cut = False
    followed_ms = None
    for _ in range(100):
        pair.run(10)
        is_following = side_of(pair.slave).status(pair.master.clock.now()).state == FOLLOWING
        followed_ms = followed_ms or (is_following and pair.master.clock.now().monotonic_ms)
        if pair.slave.ask(351, {"topic": TOPIC.name}).code == 0:
            break
    assert followed_ms
    assert pair.master.clock.now().monotonic_ms - followed_ms <= 50
