"""Plan: the knobs of one run, drawn from its seed: how bad the network is, how slow the disks, and
which faults come how often.

Every knob is drawn, batch sizes and the pace of faults too: rare shapes need a rare mix of them,
and a run in which everything is bad at once never gets far enough to show them.
"""

from random import Random

from aerobee.raft.config import RaftConfig

FAULTS = (
    "kill",
    "power cut",
    "power cut of all",
    "pause",
    "partition",
    "one-way cut",
    "isolated leader",
    "slow disk",
    "transfer",
    "departure",
    "change of members",
    "retention",
)


class Plan:
    def __init__(self, random: Random) -> None:
        draw, choice = random.random, random.choice
        self.nodes = 3 if draw() < 0.75 else 5
        self.spares = choice((0, 0, 1, 2))
        self.loss = 0.3 * draw() if draw() < 0.4 else 0.0
        self.duplication = 0.3 * draw() if draw() < 0.4 else 0.0
        self.latency_ms = choice((1.0, 5.0, 30.0, 120.0))
        self.is_ordered = draw() < 0.5
        """Messages of one node to another do not overtake each other."""
        self.straggler_rate = choice((0.0, 0.0, 0.02, 0.1))
        """Messages that take up to two seconds."""
        self.sync_ms = choice((0.5, 20.0, 100.0, 500.0))
        self.save_ms = choice((0.0, 0.0, 5.0, 60.0))
        self.client_ms = choice((15.0, 40.0, 100.0, 250.0))
        self.pending_max = choice((1, 4, 12))
        """A client that has so many unanswered requests waits."""
        self.batch_max = choice((1, 1, 4, 16))
        self.fault_ms = choice((150.0, 300.0, 600.0, 1200.0))
        self.fault_length_ms = choice((300.0, 1000.0, 2500.0))
        self.duration_ms = choice((3000.0, 6000.0, 12000.0))
        self.drift = choice((0.0, 0.02, 0.1))
        """Clocks run at 1 - drift to 1 + drift."""
        self.is_encoded = draw() < 0.05
        """Messages go through the bytes of their frames."""
        self.faults = [fault for fault in FAULTS if draw() < 0.35] or [choice(FAULTS)]
        if self.spares:
            self.faults.append("change of members")
        batch_bytes = choice((1, 100, 100_000))
        # Where small messages overtake each other nearly all are sent again: in a large window that
        # would be most of the run.
        is_small = batch_bytes <= 100 and not self.is_ordered
        self.config = RaftConfig(
            election_timeout_ms=1000,
            heartbeat_ms=choice((200, 350)),
            clock_drift_percent=10,
            batch_bytes=batch_bytes,
            window_bytes=2_000 if is_small else 100_000,
            promotion_lag_bytes=choice((0, 500, 1 << 20)),
        )
        if draw() < 0.3:
            self.config = RaftConfig(
                election_timeout_ms=1000,
                heartbeat_ms=self.config.heartbeat_ms,
                batch_bytes=choice((1, 60)),
                window_bytes=choice((60, 150)),
                promotion_lag_bytes=self.config.promotion_lag_bytes,
            )
            # A record at a time: a backlog of many would outlast the run.
            self.batch_max = 1
            self.client_ms = max(self.client_ms, self.sync_ms, self.latency_ms)
            self.sync_ms = min(self.sync_ms, 30.0)
        self.no_room_rate = 0.4 if draw() < 0.1 else 0.0
        """Disks without room for the record of a leader."""
