from aerobee.ports.clock import Now
from aerobee.service.broker.statistics.throughput import Throughput


class Counted:
    def __init__(self) -> None:
        self.count = 0
        self.flow = Throughput(lambda: self.count, Now(0, 0))

    def pass_by(self, seconds: int, per_second: int) -> None:
        for _ in range(seconds):
            self.count += per_second
            self.tick(1000)

    def tick(self, ms: int) -> None:
        self._ms = getattr(self, "_ms", 0) + ms
        self.flow.on_tick(Now(self._ms, self._ms))


def test_rates_are_of_the_last_seconds() -> None:
    counted = Counted()
    counted.pass_by(60, 600)
    counted.pass_by(10, 0)
    ten, minute, long = counted.flow.rates()
    assert ten == 0
    assert minute == 500
    assert round(long) == round(36_000 / 70)
    assert counted.flow.total == 36_000


def test_before_the_first_second_there_is_no_rate() -> None:
    assert Counted().flow.rates() == [0.0, 0.0, 0.0]


def test_totals_of_midnight_are_kept_for_two_days() -> None:
    counted = Counted()
    counted.count = 5
    counted.tick(86_400_000)
    counted.count = 9
    counted.tick(86_400_000)
    assert (counted.flow.at_midnight_before, counted.flow.at_midnight) == (5, 9)
