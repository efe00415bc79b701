from aerobee.ports.clock import Now
from aerobee.service.broker.statistics.statistics import (
    BROKER_GET_NUMS,
    BROKER_GET_NUMS_OF_USERS,
    BROKER_PUT_NUMS,
    BROKER_PUT_NUMS_OF_USERS,
    DEAD_LETTERS,
    GROUP_GET_NUMS,
    GROUP_GET_SIZE,
    SENT_BACK,
    TOPIC_PUT_NUMS,
    TOPIC_PUT_SIZE,
    Statistics,
    StatsView,
    Totals,
)
from tests.store_kit import StoreKit

MINUTE = 60_000
HOUR = 60 * MINUTE


class Counted:
    """A store whose messages are counted, and a clock."""

    def __init__(self, kit: StoreKit | None = None, pairs_max: int = 100) -> None:
        self.kit = kit or StoreKit()
        self.ms = 7 * HOUR
        self.statistics = Statistics(
            self.kit.store.queues(),
            lambda topic: topic.startswith("SYS"),
            self.now,
            pairs_max,
            events_max=3,
        )

    @property
    def now(self) -> Now:
        return Now(self.ms, self.ms)

    def arrive(self, count: int, topic: bytes = b"Orders", queue_id: int = 0) -> int:
        """So many messages; the bytes of their records."""
        before = self.kit.store.end_offset
        for _ in range(count):
            self.kit.append_many(1, topic, queue_id)
        self.statistics.arrivals.update(self.kit.store.dispatch())
        return self.kit.store.end_offset - before

    def get(self, count: int, group: str = "g", topic: str = "Orders") -> None:
        self.statistics.flow_of(group, topic).add(count, 100 * count)

    def pass_by(self, ms: int, step_ms: int = 500) -> None:
        for _ in range(0, ms, step_ms):
            self.ms += step_ms
            self.statistics.on_tick(self.now)

    def view(self, name: str, key: str) -> StatsView:
        view = self.statistics.view(name, key, self.now)
        assert view is not None
        return view


def test_a_topic_got_what_all_its_queues_got() -> None:
    counted = Counted()
    size = counted.arrive(3) + counted.arrive(2, queue_id=1)
    counted.arrive(1, b"Others")
    totals = dict(counted.statistics.topics())
    assert totals["Orders"] == Totals(5, size)
    assert totals["Others"].messages == 1
    assert counted.view(BROKER_PUT_NUMS, "c").minute.sum == 6


def test_looking_twice_counts_nothing_twice() -> None:
    counted = Counted()
    counted.arrive(3)
    assert dict(counted.statistics.topics()) == dict(counted.statistics.topics())
    counted.arrive(1)
    assert dict(counted.statistics.topics())["Orders"].messages == 4


def test_what_a_start_dispatches_again_did_not_come_now() -> None:
    kit = StoreKit()
    kit.append_many(5)
    after = Counted(StoreKit(kit.disk.kill()))
    after.statistics.arrivals.update(after.kit.store.dispatch())
    assert list(after.statistics.topics()) == []
    after.arrive(2)
    assert dict(after.statistics.topics())["Orders"].messages == 2


def test_a_topic_is_asked_for_by_rocketmqs_names() -> None:
    counted = Counted()
    size = counted.arrive(4)
    numbers = counted.view(TOPIC_PUT_NUMS, "Orders")
    assert [one.sum for one in numbers] == [4, 4, 4]
    assert numbers.minute.avgpt == 1.0
    sizes = counted.view(TOPIC_PUT_SIZE, "Orders")
    assert sizes.hour.sum == size
    assert sizes.hour.avgpt == size / 4


def test_a_group_is_asked_for_by_topic_and_group() -> None:
    counted = Counted()
    counted.get(6)
    assert counted.view(GROUP_GET_NUMS, "Orders@g").minute.sum == 6
    assert counted.view(GROUP_GET_SIZE, "Orders@g").minute.sum == 600
    assert list(counted.statistics.groups()) == [("g", "Orders", Totals(6, 600))]


def test_what_was_never_counted_is_not_there() -> None:
    counted = Counted()
    for name, key in (
        (TOPIC_PUT_NUMS, "Orders"),
        (GROUP_GET_NUMS, "Orders@g"),
        (GROUP_GET_NUMS, "Orders"),
        (SENT_BACK, "Orders@g"),
        ("NO_SUCH_NAME", "Orders"),
    ):
        assert counted.statistics.view(name, key, counted.now) is None


def test_the_whole_broker_is_with_and_without_the_systems_topics() -> None:
    counted = Counted()
    counted.arrive(2)
    counted.arrive(3, b"SYS-a")
    counted.get(4)
    counted.get(5, topic="SYS-a")
    names = (
        BROKER_PUT_NUMS,
        BROKER_PUT_NUMS_OF_USERS,
        BROKER_GET_NUMS,
        BROKER_GET_NUMS_OF_USERS,
    )
    assert [counted.view(name, "c").day.sum for name in names] == [5, 2, 9, 4]


def test_a_minute_ago_is_not_in_the_minute_any_more() -> None:
    counted = Counted()
    counted.arrive(5)
    counted.get(5)
    counted.pass_by(MINUTE)
    counted.arrive(1)
    counted.get(1)
    put, got = counted.view(TOPIC_PUT_NUMS, "Orders"), counted.view(GROUP_GET_NUMS, "Orders@g")
    assert [put.minute.sum, put.hour.sum] == [1, 6]
    assert [got.minute.sum, got.hour.sum] == [1, 6]
    counted.pass_by(HOUR, step_ms=5_000)
    assert counted.view(TOPIC_PUT_NUMS, "Orders").hour.sum == 0
    assert counted.view(TOPIC_PUT_NUMS, "Orders").day.sum == 6


def test_a_steady_rate_is_what_is_told() -> None:
    counted = Counted()
    for _ in range(120):
        counted.arrive(2)
        counted.get(3)
        counted.pass_by(1_000)
    assert 1.9 <= counted.statistics.put_tps("Orders", counted.now) <= 2.1
    assert 2.9 <= counted.statistics.get_tps("g", "Orders", counted.now) <= 3.1
    assert counted.statistics.get_tps("g", "Others", counted.now) == 0.0


def test_groups_beyond_the_bound_are_counted_together() -> None:
    counted = Counted(pairs_max=2)
    for number in range(5):
        counted.get(1, group=f"g{number}")
    assert len(list(counted.statistics.groups())) == 2
    assert counted.statistics.handed_out() == Totals(5, 500)
    assert counted.view(BROKER_GET_NUMS, "c").minute.sum == 5


def test_events_are_by_name_topic_and_group_and_bounded() -> None:
    counted = Counted()
    counted.statistics.note(DEAD_LETTERS, "Orders", "g")
    counted.statistics.note(DEAD_LETTERS, "Orders", "g", 2)
    counted.statistics.note(SENT_BACK, "Orders", "g")
    assert counted.view(DEAD_LETTERS, "Orders@g").minute.sum == 3
    for number in range(10):
        counted.statistics.note(SENT_BACK, "Orders", f"g{number}")
    places = [f"Orders@g{number}" for number in range(10)]
    first, *others = [counted.statistics.view(SENT_BACK, place, counted.now) for place in places]
    assert first is not None
    assert others == [None] * 9


def test_what_is_counted_once_goes_into_the_same_flows() -> None:
    counted = Counted()
    counted.statistics.count_out("g", "Orders", 3, 300)
    counted.get(1)
    counted.statistics.count_returned("Orders", "g", False)
    counted.statistics.count_returned("Orders", "g", True)
    assert list(counted.statistics.groups()) == [("g", "Orders", Totals(4, 400))]
    assert counted.view(SENT_BACK, "Orders@g").minute.sum == 1
    assert counted.view(DEAD_LETTERS, "Orders@g").minute.sum == 1


def test_what_does_not_exist_any_more_is_forgotten_within_an_hour() -> None:
    counted = Counted()
    counted.arrive(1, b"Gone")
    counted.arrive(1)
    for group, topic in (("g", "Orders"), ("g", "Gone"), ("gone", "Orders")):
        counted.get(2, group, topic)
    counted.statistics.note(SENT_BACK, "Gone", "g")

    def forget() -> None:
        counted.statistics.forget(lambda name: name != "Gone", lambda name: name != "gone")

    forget()
    assert len(list(counted.statistics.groups())) == 3
    counted.pass_by(HOUR, step_ms=5_000)
    forget()
    assert [topic for topic, _ in counted.statistics.topics()] == ["Orders"]
    assert [group for group, _, _ in counted.statistics.groups()] == ["g"]
    assert counted.statistics.view(SENT_BACK, "Gone@g", counted.now) is None
    # What they had is still in what passed in all.
    assert counted.statistics.handed_out() == Totals(6, 600)
    assert counted.view(BROKER_GET_NUMS, "c").day.sum == 6
