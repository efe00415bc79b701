"""A replica that loses power at any moment: its log is a beginning of its master's.

Pieces of a master's log come in any sizes, between steps of the clock and jobs of the disk. After
each, the process is killed and the power is cut; the laws of `recovery_check` hold of what is left,
and nothing that was flushed is missing.
"""

import contextlib
import random
from dataclasses import replace

import pytest

from aerobee.errors import StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.storage.config import FlushMode
from tests.crash.recovery_check import RecoveryCheck, Truth
from tests.replica_kit import log_bytes
from tests.score import show
from tests.store_kit import PREPARED, SMALL, StoreKit, batch_draft, draft, properties

SHARE = 0.05


def log_of_master(seed: int, *, record_crc: bool) -> bytes:
    dice = random.Random(seed)
    master = StoreKit(config=replace(SMALL, record_crc=record_crc))
    for number in range(24):
        master.clock.advance(dice.randrange(40))
        text = properties(KEYS=f"k{number % 5}", TAGS=f"t{number % 3}")
        if number % 7 == 0:
            master.append(batch_draft(b"Orders", 0, [b"one", b"two"], keys="batch"))
        else:
            sys_flag = PREPARED if number % 5 == 0 else 0
            body = dice.randbytes(dice.choice([10, 300, 1200]))
            topic = dice.choice([b"Orders", b"Trades"])
            master.append(draft(topic, 0, body, text, sys_flag=sys_flag))
    return log_bytes(master.store)


@pytest.mark.parametrize("record_crc", [True, False])
@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("seed", range(2))
def test_whatever_a_crash_leaves_of_a_replica_is_a_beginning_of_its_masters_log(
    seed: int, mode: FlushMode, record_crc: bool
) -> None:
    log = log_of_master(seed, record_crc=record_crc)
    dice = random.Random(seed)
    replica = StoreKit(config=replace(SMALL, flush_mode=mode, checkpoint_interval_ms=50))
    check = RecoveryCheck(replica.config)
    done = moment = 0
    while done < len(log):
        moment += 1
        match dice.randrange(4):
            case 0:
                come = min(done + dice.randrange(1, 2500), len(log))
                with contextlib.suppress(StoreBusy):
                    done += replica.store.append_raw(done, memoryview(log)[done:come])
            case 1:
                replica.step(dice.choice([1, 60, 600]))
            case 2:
                replica.worker.run_next(dice.choice([None, Lane.SYNC, Lane.BACKGROUND]))
            case 3:
                replica.store.dispatch()
        truth = Truth(log[:done])
        check.check(replica.disk.kill(), truth, done)
        flushed = replica.store.flushed_offset
        check.check(replica.disk.power_cut(), truth, flushed)
        if record_crc:  # without it a lost sector may go unnoticed above the mark
            for state in replica.disk.crash_states(random_count=2, seed=moment, share=SHARE):
                check.check(state, truth, flushed)
    show(f"crash states of a replica: {check.count:,} at {moment} moments")
    assert check.count >= (3 if record_crc else 2) * moment
