from aerobee.model.subscription import MessageModel
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.metrics.lag import Lags, QueueLag, TopicLag
from tests.consumer_kit import ConsumerKit


class LagKit(ConsumerKit):
    def __init__(self) -> None:
        super().__init__()
        self.lags = Lags(self.offsets, self.topics, self.consumers, self.queues)

    def commit(self, offset: int, queue_id: int = 0, group: str = "g") -> None:
        end = self.queues.max_offset("Orders", queue_id)
        self.offsets.commit(group, "Orders", queue_id, offset, end)

    def all(self) -> list[TopicLag]:
        return list(self.lags.all(self.clock.now()))

    def queue(self, queue_id: int = 0) -> QueueLag:
        (lag,) = self.all()
        (found,) = [one for one in lag.queues if one.queue_id == queue_id]
        return found


def test_a_lag_is_what_was_not_committed() -> None:
    kit = LagKit()
    kit.store_messages(10)
    kit.commit(4)
    lag = kit.queue()
    assert (lag.behind, lag.ready, lag.in_flight) == (6, 6, 0)


def test_its_time_is_the_age_of_the_oldest_message_that_waits() -> None:
    kit = LagKit()
    kit.store_messages(10)  # 1 ms apart
    kit.commit(4)
    kit.clock.advance(1_000)
    assert kit.queue().behind_ms == 1_005
    kit.commit(10)
    assert kit.queue().behind_ms == 0


def test_a_message_that_waits_on_grows_older_without_being_read_again() -> None:
    kit = LagKit()
    kit.store_messages(1)
    kit.commit(0)
    assert kit.queue().behind_ms == 0
    kit.clock.advance(500)
    assert kit.queue().behind_ms == 500


def test_what_was_handed_out_is_in_flight() -> None:
    kit = LagKit()
    kit.store_messages(10)
    kit.commit(4)
    kit.offsets.note_pulled("g", "Orders", 0, 7)
    kit.clock.advance(100)
    lag = kit.queue()
    assert (lag.behind, lag.in_flight, lag.ready) == (6, 3, 3)
    assert (lag.behind_ms, lag.ready_ms) == (105, 102)


def test_nothing_is_ever_below_zero() -> None:
    kit = LagKit()
    kit.store_messages(3)
    kit.offsets.reset("g", "Orders", 0, 50)  # an operator may set any
    kit.offsets.note_pulled("g", "Orders", 0, 90)
    lag = kit.queue()
    assert lag == QueueLag(0, 0, 0, 0, 0, 0)
    kit.offsets.reset("g", "Orders", 0, 0)
    kit.clock.jump_wall(-10_000)
    lag = kit.queue()
    assert lag.behind == 3
    assert min(lag) == 0


def test_a_queue_without_a_commit_is_behind_from_where_it_is_pulled() -> None:
    kit = LagKit()
    kit.store_messages(5)
    kit.store_messages(5, queue_id=1)
    kit.commit(5)
    assert kit.queue(1).behind == 5  # all that there is, as nobody has ever asked for it
    kit.offsets.note_pulled("g", "Orders", 1, 4)
    assert kit.queue(1).behind == 1


def test_messages_that_were_removed_are_no_lag() -> None:
    kit = LagKit()
    kit.commit(0)
    kit.store_messages(200)
    kit.store.set_topic_retention(b"Orders", 1_000)
    kit.clock.advance(3_600_000)
    for _ in range(5):
        kit.kit.settle()
    begin = kit.queues.min_offset("Orders", 0)
    assert begin > 0
    assert kit.queue().behind == kit.queues.max_offset("Orders", 0) - begin


def test_a_topic_that_is_gone_or_not_subscribed_to_any_more_is_left_out() -> None:
    kit = LagKit()
    kit.store_messages(5)
    kit.commit(1)
    kit.offsets.commit("g", "Gone", 0, 0, 5)
    kit.beat("a")
    assert [(lag.group, lag.topic) for lag in kit.all()] == [("g", "Orders")]
    kit.beat("a", subscriptions=[make_subscription("Others", "*", 2)])
    assert kit.all() == []


def test_a_group_that_broadcasts_has_no_lag_here() -> None:
    kit = LagKit()
    kit.store_messages(5)
    kit.commit(1)
    kit.beat("a", model=MessageModel.BROADCASTING)
    assert kit.all() == []
