"""The plan that a seed stands for: the cluster, the clients, and what goes wrong when.

Not every story has every kind of trouble: a few kinds are drawn first (many small faults hide each
other), then their moments. Everything small and short, so that files roll, saves happen and time
limits pass within a few seconds of virtual time.
"""

import random
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from aerobee.service.broker.config import BrokerConfig
from aerobee.storage.config import FlushMode, StorageConfig
from tests.sim.consumer import Taste
from tests.sim.producer import Load

TOPICS = ("Orders", "Refunds")
POPPERS = "poppers"
"""The group that pops, in stories that have one."""
DELAY_LEVELS_MS = (300, 500, 900, 1_400, *(1_500 + 250 * n for n in range(14)))
UNLIMITED = 1 << 40


class Trouble(Enum):
    KILL = "a broker is killed"
    POWER_CUT = "a broker loses power"
    CRASH_IN_CALL = "a broker is killed or loses power in a disk call"
    RESTART = "a broker is restarted"
    NAMESERVER = "a name server is killed or loses power"
    CUT_LINK = "nothing gets from one host to another"
    RESET = "connections break"
    DISK_FULL = "the disk of a broker is full"
    SYNC_FAILS = "a sync of a broker fails"
    SLOW_DISK = "the disk of a broker is slow"
    CLOCK = "the wall clock of a broker is set"
    CONSUMER_CRASH = "a consumer ends without a word"
    SLOW_READER = "a client does not read"


_OFTEN = (
    Trouble.POWER_CUT,
    Trouble.POWER_CUT,
    Trouble.CRASH_IN_CALL,
    Trouble.CRASH_IN_CALL,
    Trouble.KILL,
    Trouble.SYNC_FAILS,
)
"""What is drawn more often than the rest: most promises are about it."""


class ReplicaTrouble(Enum):
    """Of brokers that are copies of each other."""

    KILL_MASTER = "the master is killed"
    POWER_CUT_MASTER = "the master loses power"
    KILL_SLAVE = "a slave is killed"
    POWER_CUT_SLAVE = "a slave loses power"
    KILL_ALL = "all brokers are killed"
    POWER_CUT_ALL = "all brokers lose power"
    CUT = "nothing gets from one broker to another"
    FLAP = "a link between brokers comes and goes"
    SLOW = "a link between brokers is slow"
    LEAVE_BEHIND = "the master has messages that no slave gets, and ends"
    ISOLATE = "the master reaches nobody but clients, and goes on"
    SWITCH = "somebody makes a slave the master"
    REPLACE = "the disk of a broker is gone for good"


class Blow(NamedTuple):
    """One thing that goes wrong."""

    at_ms: int
    trouble: Trouble | ReplicaTrouble


class Plan(NamedTuple):
    seed: int
    storages: Sequence[StorageConfig]
    """One for each broker."""
    config: BrokerConfig
    nameservers: int
    loads: Sequence[Load]
    trades: Sequence[Load]
    """Of producers of transactions."""
    alarms: Sequence[Load]
    """Of producers of messages for exact times."""
    tastes: Sequence[Taste]
    members: int
    """Consumers of each group."""
    blows: Sequence[Blow]
    trouble_ms: int
    """When the trouble is over."""
    buffer_bytes: int
    sync_ms: Sequence[int]
    """How long disk work of each broker takes, mostly, at most."""


def draw_plan(seed: int) -> tuple[Plan, random.Random]:
    """A plan, and the generator that decides everything else."""
    generator = random.Random(seed)
    draw = generator.choice
    trouble_ms = generator.randint(2_500, 6_000)
    messages, loads = generator.randint(20, 50), []
    for _ in range(draw((1, 2, 2, 3))):
        pause_ms = trouble_ms // messages * 2 // 3
        topics, at_once = TOPICS[: draw((1, 2))], draw((1, 1, 3))
        loads.append(Load(topics, messages, pause_ms, DELAY_LEVELS_MS, 3_000, at_once))
    kinds = generator.sample([*Trouble, *_OFTEN], generator.randint(0, 4))
    blows = [
        Blow(generator.randint(300, trouble_ms), draw(kinds))
        for _ in range(generator.randint(1, 7) if kinds else 0)
    ]
    storages = [_draw_storage(generator) for _ in range(draw((1, 1, 2, 2, 3)))]
    alarms = _alarms(seed, trouble_ms)
    is_wary = any(storage.flush_mode is FlushMode.ASYNC for storage in storages)
    plan = Plan(
        seed,
        storages,
        BrokerConfig(
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
            timer_save_interval_ms=(300, 50, 1_000)[seed // 9 % 3] if alarms else 1_000,
            recalls=bool(alarms),
            separates_retries=_is_ranked(seed),
            retry_first_percent=seed // 12 % 2 * 50,
        ),
        draw((1, 2)),
        loads,
        [
            Load(TOPICS[: draw((1, 2))], draw((4, 15)), trouble_ms // 30, (), 3_000, draw((1, 3)))
            for _ in range(draw((0, 1, 1, 2)))
        ],
        alarms,
        [
            Taste(
                f"group-{number}",
                TOPICS if number == 0 else TOPICS[:1],
                draw((0, 20, 200)),
                draw((0.0, 0.0, 0.1)),
                "*" if number == 0 else draw(("*", "t0")),
                is_wary or draw((True, False)),
            )
            for number in range(draw((1, 1, 2)))
        ]
        + _poppers(seed),
        draw((1, 2, 2)),
        blows,
        trouble_ms,
        draw((2_000, 1 << 20)),
        [draw((3, 3, 150)) for _ in storages],
    )
    return plan, generator


def _alarms(seed: int, trouble_ms: int) -> list[Load]:
    """A producer of messages for exact times, in most stories."""
    if seed % 4 == 0:
        return []
    return [Load((), 12, trouble_ms // 24, (), 300, 1 + seed % 3)]


def _poppers(seed: int) -> list[Taste]:
    """A group that pops, in some stories."""
    if seed % 3:
        return []
    share = (0.0, 0.1, 0.3)[seed // 3 % 3]
    is_ranked, is_mixed = _is_ranked(seed), seed // 6 % 4 == 1
    return [
        Taste(
            POPPERS,
            TOPICS[:1],
            50,
            share,
            is_popping=True,
            is_ranked=is_ranked,
            is_mixed=is_mixed,
        )
    ]


def _is_ranked(seed: int) -> bool:
    """Whether messages that are popped have priorities, in half of the stories with POP."""
    return seed % 6 == 3


def _draw_storage(generator: random.Random) -> StorageConfig:
    draw = generator.choice
    flush_ms = draw((20, 100, 500))
    return StorageConfig(
        log_file_bytes=draw((1 << 13, 1 << 14, 1 << 16)),
        queue_file_units=draw((8, 50)),
        index_slots=16,
        index_units=draw((32, 200)),
        delay_levels_ms=DELAY_LEVELS_MS,
        flush_mode=draw((FlushMode.SYNC, FlushMode.SYNC, FlushMode.ASYNC)),
        flush_interval_ms=flush_ms,
        flush_lag_ms_max=2 * flush_ms,
        mark_interval_ms=draw((50, 1_000)),
        checkpoint_interval_ms=draw((100, 1_000, 5_000)),
        # A full disk refuses: nothing old is given up for room.
        disk_used_ratio_clean=1.0,
        disk_used_ratio_full=1.0,
        disk_free_bytes_min=0,
        hot_bytes=draw((2_000, 1 << 30)),
    )
