"""A slave on a pretended disk: a copy of its master's log, and the copying of everything beside it.

disk = SimDisk()
copy_log(kit.disk, disk)          its commit log is that of the other store now
slave = SlaveKit(master)          a slave whose log is the master's as of now
slave.run(3_500)                  time passes; the master answers what the slave asks
slave = slave.caught_up()         another process of it, with the master's log as of now
kit = slave.promoted()            a broker on the slave's disk, as master

Requests of the slave go to the master's broker as frames. `silent_at` says at which of them it
falls silent; `refused` are codes that it does not know.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.topic.topic_cleanup import set_cleanup
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.membership.request_modes import RequestModes
from aerobee.service.broker.replication.metadata.metadata_assembly import MetadataAssembly
from aerobee.service.broker.replication.metadata.snapshot_applying import Hooks
from aerobee.service.broker.state.tables import Ground, open_tables
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE, BrokerKit
from tests.pop_kit import CONFIG, PopKit
from tests.store_kit import ROOT, StoreKit

LOG = f"{ROOT}/commitlog"
MASTER = "10.0.0.1:10911"
SLAVE_IDENTITY = BrokerIdentity(broker_id=1, address="10.0.0.2:10911")
SLAVE_STORAGE = replace(STORAGE, store_host=bytes((10, 0, 0, 2)) + (10911).to_bytes(4, "big"))
STEP_MS = 50


def copy_log(source: SimDisk, target: SimDisk) -> None:
    """Copy a commit log to a disk that has none."""
    _copy_folder(source, target, LOG)


def _copy_folder(source: SimDisk, target: SimDisk, folder: str) -> None:
    target.make_directory(folder)
    for name in source.list_directory(folder) if source.exists(folder) else ():
        content = source.read(f"{folder}/{name}")
        file = target.create(f"{folder}/{name}", len(content))
        file.view[:] = content
        file.sync()
        file.close()
    target.sync_directory(folder)


class SlaveKit:
    def __init__(
        self,
        master: BrokerKit,
        disk: SimDisk | None = None,
        storage: StorageConfig = SLAVE_STORAGE,
        config: BrokerConfig = CONFIG,
        *,
        refused: Collection[int] = (),
    ) -> None:
        """`disk`: of an earlier process, as slave or as master. Its state files and those of its
        timer are kept; the log is copied again, and what is derived from it is built again."""
        self.master = master
        self.refused = refused
        self.silent_at: int | None = None
        """The number of answers after which the master falls silent."""
        self.address = MASTER
        self.asked: list[int] = []
        self.config = config
        self.clock = master.clock
        self.disk = SimDisk()
        copy_log(master.disk, self.disk)
        if disk is not None:
            _copy_folder(disk, self.disk, f"{ROOT}/config")
            _copy_folder(disk, self.disk, f"{ROOT}/timerlog")
            for path in (f"{ROOT}/deleted_topics", f"{ROOT}/timerwheel"):
                if disk.exists(path):
                    self.disk.replace(path, disk.read(path))
        kit = StoreKit(self.disk, storage, clock=self.clock)
        self.store, self.worker = kit.store, kit.worker
        now = self.clock.now()
        ground = Ground(self.store, self.disk, self.worker)
        changes = ChangesFile(self.disk, f"{ROOT}/config/broker.properties", {})
        live = LiveConfig(config, SETTINGS, changes, self.worker, {})
        self.tables = open_tables(SLAVE_IDENTITY, live, ground, now)
        self.modes = RequestModes(ground.config_file("messageRequestMode.json"), self.worker)
        self.outbox: Effects = []
        self.deleted: list[tuple[str, int]] = []
        hooks = Hooks(self.modes.take_over, partial(set_cleanup, self.store), self._delete_before)
        self.metadata = MetadataAssembly(
            self.tables,
            ground,
            hooks,
            lambda: self.address,
            SLAVE_IDENTITY.address,
            self.outbox,
            now,
        )

    def _delete_before(self, topic: str, log_offset: int) -> None:
        self.deleted.append((topic, log_offset))
        self.store._deletions.delete_before(topic.encode(), log_offset)

    # Time.

    def tick(self, ms: int = 0) -> None:
        """One tick; nobody answers, and the disk does nothing."""
        now = self.clock.advance(ms)
        self.store.step(now)
        self.store.dispatch()
        self.metadata.on_tick(now)
        self.tables.offsets_file.saving.on_tick(now)

    def run(self, ms: int) -> None:
        """Time passes for both; every question is answered, and the disk does its work."""
        for _ in range(0, ms, STEP_MS):
            self.master.tick(STEP_MS)
            self.master.work()
            self.tick()
            self.answer_all()
            self.worker.run_all()
        self.settle()

    def settle(self) -> None:
        """All answers are there and all disk work is done; no time passes."""
        for _ in range(50):
            self.tick()
            self.answer_all()
            if not self.worker.run_all() and not self.outbox:
                break

    def answer_all(self) -> None:
        while self.outbox:
            dials = [effect for effect in self.outbox if isinstance(effect, Dial)]
            self.outbox.clear()
            for dial in dials:
                answer = self._answer(dial)
                self.metadata.on_answer(dial.ticket, answer, self.clock.now())

    def _answer(self, dial: Dial) -> RemotingCommand | None:
        self.asked.append(dial.command.code)
        if self.silent_at is not None:
            if self.silent_at == 0:
                return None
            self.silent_at -= 1
        if dial.command.code in self.refused:
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            return RemotingCommand(code, flag=RESPONSE_FLAG, remark="not supported")
        command = dial.command
        return self.master.ask(command.code, command.ext_fields, bytes(command.body))

    # Consuming.

    def commit(self, offset: int, topic: str = "Orders", queue_id: int = 0) -> None:
        """A member of the group g commits at the slave."""
        queue = self.store.queue(topic.encode(), queue_id)
        end = queue.max_offset if queue is not None else 0
        self.tables.offsets.commit("g", topic, queue_id, offset, end)

    def offset(self, topic: str = "Orders", queue_id: int = 0, group: str = "g") -> int:
        return self.tables.offsets.find(group, topic, queue_id)

    # Other processes.

    def stop(self) -> None:
        now = self.clock.now()
        self.metadata.stop(now)
        self.tables.offsets_file.saving.close(now)
        self.store.close()

    def caught_up(self) -> "SlaveKit":
        """Stop, and another process, with the master's log as of now."""
        self.stop()
        return SlaveKit(
            self.master, self.disk, self.store.config, self.config, refused=self.refused
        )

    def promoted(self) -> PopKit:
        self.stop()
        return PopKit(
            disk=self.disk, storage=self.store.config, clock=self.clock, config=self.config
        )
