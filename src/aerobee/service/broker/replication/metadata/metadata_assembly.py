"""Puts the copying of metadata together: of a slave its state, the rounds, applying and the
hand-back of commits; of a master the handler of COPY_BROKER_STATE.

A broker that runs as a slave has a `MetadataAssembly`, and calls it on ticks, with answers and at
the end.
"""

from collections.abc import Callable, Mapping

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.bodies.broker_state import BrokerVersions
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.broker_state_handlers import (
    NO_FILES,
    BrokerStateHandlers,
)
from aerobee.service.broker.replication.metadata.copied_files import CopiedFiles
from aerobee.service.broker.replication.metadata.metadata_copy import LOOK_MS, MetadataCopy
from aerobee.service.broker.replication.metadata.offset_hand_back import OffsetHandBack
from aerobee.service.broker.replication.metadata.own_progress import fit_to_log, timer_version
from aerobee.service.broker.replication.metadata.slave_state import SlaveState
from aerobee.service.broker.replication.metadata.snapshot_applying import (
    DELAYS,
    GROUPS,
    TIMER,
    TOPICS,
    Hooks,
    SnapshotApplying,
)
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables


class MetadataAssembly:
    def __init__(
        self,
        tables: Tables,
        ground: Ground,
        hooks: Hooks,
        master_address: Callable[[], str],
        own_address: str,
        outbox: Effects,
        now: Now,
    ) -> None:
        """Fits state files of an earlier life to the log, blocking on the disk. CorruptFile: one of
        them is damaged."""
        store, offsets = ground.store, tables.offsets
        fit_to_log(store, ground.disk)
        present = {
            TOPICS: tables.topics.version,
            GROUPS: tables.groups.version,
            DELAYS: tables.delay_offsets.version,
            TIMER: timer_version(store, ground.disk),
        }
        file = ground.config_file("slaveState.json")
        self._state = SlaveState(file, ground.worker, present, offsets.find, now)
        offsets.on_commit = self._state.note_commit
        self._files = CopiedFiles(ground.disk, ground.worker, store.root)
        self._hand_back = OffsetHandBack(outbox, self._state.settle)
        applying = SnapshotApplying(
            tables, store, self._state, self._files, hooks, self._hand_back.owe
        )
        self._copy = MetadataCopy(store, applying, master_address, own_address, outbox)
        self._is_stopped = False

    @property
    def copied_ms(self) -> int | None:
        """Monotonic time of the last copy; None: there was none."""
        return self._copy.copied_ms

    def copy_soon(self) -> None:
        """Copy at the next tick: this slave begins to follow, and may be promoted at any time."""
        self._copy.copy_soon()

    def hold(self, *, is_on: bool) -> None:
        """Copy nothing from now on, or copy again: tables of a former master must not come behind
        those of a promotion."""
        if is_on:
            self._copy.stop()
        else:
            self._copy.go_on()

    def on_tick(self, now: Now) -> None:
        if self._is_stopped:
            return
        self._copy.on_tick(now)
        self._hand_back.on_tick()
        self._state.saving.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        self._copy.on_answer(ticket, answer, now)
        self._hand_back.on_answer(ticket, answer)

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        return 0 if self._hand_back.has_more else min(LOOK_MS, self._copy.rest_ms(now))

    def stop(self, now: Now) -> None:
        """Finish the saves that have begun. Blocks on the disk."""
        self._is_stopped = True
        self._copy.stop()
        self._files.finish()
        self._state.saving.close(now)


def state_rows(
    tables: Tables, ground: Ground, now: Now, made: Mapping[str, Callable[[], bytes]] = NO_FILES
) -> list[Row]:
    """The row of the request table that a master's slaves use. `now`: the start of the broker;
    `made`: see `BrokerStateHandlers`."""
    topics, groups, started_ms = tables.topics, tables.groups, now.wall_ms
    handlers = BrokerStateHandlers(
        ground.disk,
        ground.worker,
        ground.store.root,
        lambda: BrokerVersions(topics.version, groups.version, started_ms),
        made,
    )
    return handlers.rows()
