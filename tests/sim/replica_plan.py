"""The plan that a seed of a story of replication stands for: a master, its slaves, their trouble.

Mode C: ASYNC_MASTER, a send waits for no slave. Mode D: SYNC_MASTER, it waits until `needed`
brokers have the message.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from aerobee.model.broker_role import BrokerRole
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.storage.config import FlushMode, StorageConfig
from tests.sim.consumer import Taste
from tests.sim.plan import DELAY_LEVELS_MS, POPPERS, TOPICS, Blow, Plan, ReplicaTrouble, Trouble
from tests.sim.producer import Load

_TROUBLES: Sequence[Trouble | ReplicaTrouble] = (
    *ReplicaTrouble,
    ReplicaTrouble.KILL_MASTER,
    ReplicaTrouble.POWER_CUT_MASTER,
    ReplicaTrouble.POWER_CUT_MASTER,
    ReplicaTrouble.LEAVE_BEHIND,
    ReplicaTrouble.LEAVE_BEHIND,
    ReplicaTrouble.SWITCH,
    ReplicaTrouble.ISOLATE,
    ReplicaTrouble.CUT,
    Trouble.CRASH_IN_CALL,
    Trouble.CRASH_IN_CALL,
    Trouble.RESTART,
    Trouble.NAMESERVER,
    Trouble.CUT_LINK,
    Trouble.RESET,
    Trouble.DISK_FULL,
    Trouble.SYNC_FAILS,
    Trouble.SLOW_DISK,
    Trouble.CONSUMER_CRASH,
)


class ReplicaPlan(NamedTuple):
    story: Plan
    replication: ReplicationConfig
    """Of the first master; slaves have another role."""
    is_pinned: bool
    """Whether slaves are told their master's address; otherwise name servers tell it."""

    @property
    def needed(self) -> int:
        """Brokers that must have what is acknowledged."""
        is_sync = self.replication.role is BrokerRole.SYNC_MASTER
        return self.replication.in_sync_replicas if is_sync else 1


def draw_replica_plan(seed: int) -> tuple[ReplicaPlan, random.Random]:
    """A plan, and the generator that decides everything else."""
    generator = random.Random(f"replicas {seed}")
    draw = generator.choice
    machines = draw((2, 2, 3, 3))
    needed = draw((1, 2, 2, machines))
    replication = ReplicationConfig(
        role=BrokerRole.SYNC_MASTER if needed > 1 else BrokerRole.ASYNC_MASTER,
        transfer_bytes=draw((1_024, 4_096, 1 << 18)),
        heartbeat_interval_ms=draw((100, 300)),
        silence_ms_max=draw((600, 1_500)),
        in_sync_replicas=needed,
        slave_timeout_ms=draw((200, 800)),
    )
    trouble_ms = generator.randint(4_000, 9_000)
    kinds = generator.sample(_TROUBLES, generator.randint(1, 4))
    blows = [
        Blow(generator.randint(500, trouble_ms), draw(kinds))
        for _ in range(generator.randint(1, 7))
    ]
    is_pinned = ReplicaTrouble.ISOLATE in kinds or draw((True, False))
    storage = _draw_storage(generator)
    messages = generator.randint(30, 70)
    story = Plan(
        seed,
        [
            replace(storage, store_host=bytes((10, 0, 1, n + 1)) + (10911).to_bytes(4, "big"))
            for n in range(machines)
        ],
        _draw_config(generator),
        draw((1, 2)),
        [
            Load(
                TOPICS[: draw((1, 2))],
                messages,
                trouble_ms // messages * 2 // 3,
                DELAY_LEVELS_MS,
                3_000,
                draw((1, 1, 3)),
            )
            for _ in range(draw((1, 2, 2, 3)))
        ],
        [
            Load(TOPICS[: draw((1, 2))], draw((4, 15)), trouble_ms // 30, (), 3_000, draw((1, 3)))
            for _ in range(draw((0, 0, 1)))
        ],
        [Load((), 12, trouble_ms // 24, (), 300, 1 + seed % 3)] if draw((True, False)) else [],
        [
            Taste(f"group-{number}", TOPICS, draw((0, 20, 200)), draw((0.0, 0.0, 0.1)))
            for number in range(draw((1, 1, 2)))
        ]
        + [Taste(POPPERS, TOPICS[:1], 50, draw((0.0, 0.1, 0.3)), is_popping=True)]
        * draw((0, 0, 1)),
        draw((1, 2)),
        blows,
        trouble_ms,
        draw((2_000, 1 << 20)),
        [draw((3, 3, 100)) for _ in range(machines)],
    )
    return ReplicaPlan(story, replication, is_pinned), generator


def _draw_storage(generator: random.Random) -> StorageConfig:
    draw = generator.choice
    flush_ms = draw((20, 100, 500))
    return StorageConfig(
        log_file_bytes=draw((1 << 13, 1 << 14, 1 << 16)),
        queue_file_units=draw((8, 50)),
        index_slots=16,
        index_units=draw((32, 200)),
        delay_levels_ms=DELAY_LEVELS_MS,
        flush_mode=draw((FlushMode.SYNC, FlushMode.ASYNC)),
        flush_interval_ms=flush_ms,
        flush_lag_ms_max=2 * flush_ms,
        mark_interval_ms=draw((50, 1_000)),
        checkpoint_interval_ms=draw((100, 1_000, 5_000)),
        disk_used_ratio_clean=1.0,
        disk_used_ratio_full=1.0,
        disk_free_bytes_min=0,
        hot_bytes=draw((2_000, 1 << 30)),
    )


def _draw_config(generator: random.Random) -> BrokerConfig:
    draw = generator.choice
    return BrokerConfig(
        default_queues=2,
        register_interval_ms=2_000,
        register_timeout_ms=1_000,
        offsets_interval_ms=draw((50, 300, 2_000)),
        client_ms_max=3_000,
        sync_timeout_ms=draw((100, 1_000, 5_000)),
        transaction_timeout_ms=draw((200, 1_000)),
        transaction_check_interval_ms=draw((300, 1_000)),
        transaction_checks_max=draw((2, 15)),
        timer_precision_ms=100,
        timer_wheel_slots=512,
        timer_window_slots=200,
        timer_log_file_bytes=40 * 52 + 20,
        timer_save_interval_ms=draw((50, 300, 1_000)),
        recalls=True,
    )
