"""The broker's part of a process: its ports, its store, and one life after another.

Longer than 500 lines because each test is small and shares the same stand-in for the broker.
"""

import asyncio
import contextlib
import logging
import re
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import CannotStart, Ended
from aerobee.app.settings.broker_settings import BrokerNames, BrokerSettings, read_settings
from aerobee.app.settings.config import Given, ListenConfig
from aerobee.errors import CorruptFile
from aerobee.model.broker_role import BrokerRole, RoleChange, Stage
from aerobee.net.listener import bind, port_of
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import Lane
from aerobee.ports.service import ChannelId, Dial, Effects, Rebuild
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tests.net_kit import ECHO, SILENCE, EchoService, Running, in_loop
from tests.wire_client import WireClient

SMALL = {
    "mappedFileSizeCommitLog": "65536",
    "mappedFileSizeConsumeQueue": "2000",
    "messageIndexEnable": "false",
}


def settings(folder: Path, port: int | str = 0, **given: str) -> BrokerSettings:
    texts = {**SMALL, "storePathRootDir": f"{folder}/store", "listenPort": str(port), **given}
    return read_settings(None, {}, [Given(key, text, "test") for key, text in texts.items()])


class Standin(EchoService):
    """In the place of the broker's service: writes down what it was built with and told."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = BrokerIdentity()
        self.nameservers: Sequence[str] = ()
        self.store: Store | None = None
        self.fault: Exception | None = None
        self.stops = 0
        self.asks = ""

    def build(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        store: Store,
        disk: MappedDisk,
        worker: ThreadDiskWorker,
        nameservers: Sequence[str],
        now: Now,
    ) -> "Standin":
        if self.fault is not None:
            raise self.fault
        self.identity = identity
        self.config = config
        self.store = store
        self.worker = worker
        self.nameservers = nameservers
        return self

    def on_tick(self, now: Now) -> Effects:
        self.worker.collect()
        if self.ticks == 0 and self.asks:
            self.ticks = 1
            return [Dial(self.asks, RemotingCommand(ECHO, body=b"hello"), 60_000, "ticket")]
        return super().on_tick(now)

    def rest_ms(self, now: Now) -> int:
        return 86_400_000

    def stop(self, now: Now) -> Effects:
        self.stops += 1
        assert self.store is not None
        self.store.append(draft(b"last words"), now.wall_ms)  # the store is still open
        return []


def draft(body: bytes) -> MessageDraft:
    made = MessageDraft()
    made.topic = b"T"
    made.set_body(memoryview(body))
    return made


def no_failure(error: BaseException) -> None:
    raise AssertionError(error)


def port_in(place: str) -> int:
    return int(place.rpartition(":")[2])


@contextlib.asynccontextmanager
async def live(part: BrokerPart, failed: Ended = no_failure) -> AsyncIterator[int]:
    """A part that has started, and its port; stopped whatever happens."""
    place = await part.start(failed)
    assert place.startswith("broker ")
    try:
        yield port_in(place)
    finally:
        await part.stop()


def open_again(root: Path) -> int:
    """The end of the log of a store that nobody has open."""
    worker = ThreadDiskWorker()
    store = Store.open(MappedDisk(), str(root), settings(root.parent).storage, worker)
    end = store.end_offset
    store.close()
    worker.close()
    return end


def test_it_serves_on_two_ports_and_gives_everything_back_when_it_stops(tmp_path: Path) -> None:
    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path), standin.build)
        async with live(part) as port:
            for number in (port, port - 2):
                answer = await asyncio.to_thread(ask, number)
                assert bytes(answer.body) == b"x"
        assert standin.stops == 1
        assert open_again(tmp_path / "store") > 0  # what it said last was kept
        assert not (tmp_path / "store/abort").exists()
        for number in (port, port - 2):
            socket.create_server(("127.0.0.1", number)).close()

    in_loop(test)


def ask(port: int) -> RemotingCommand:
    with WireClient(port) as client:
        return client.ask(ECHO, body=b"x")


def test_either_port_that_is_taken_is_said_and_nothing_is_touched(tmp_path: Path) -> None:
    async def test() -> None:
        (taken,) = bind("127.0.0.1", 0)
        with taken:
            taken.listen()
            for above in (0, 2):
                port = port_of(taken) + above
                part = BrokerPart(settings(tmp_path, port), Standin().build)
                with pytest.raises(CannotStart, match=f"{port_of(taken)}: another process"):
                    await part.start(no_failure)
        assert list(tmp_path.iterdir()) == []

    in_loop(test)


def test_a_second_one_on_the_same_store_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async def test() -> None:
        part = BrokerPart(settings(tmp_path), Standin().build)
        async with live(part) as port:
            for _ in range(2):
                with pytest.raises(CannotStart, match="another process has the store"):
                    await BrokerPart(settings(tmp_path), Standin().build).start(no_failure)
            assert bytes((await asyncio.to_thread(ask, port)).body) == b"x"

    in_loop(test)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def test() -> None:
        part = BrokerPart(settings(tmp_path / "file"), Standin().build)
        with pytest.raises(CannotStart, match=r"cannot open the store .*--store"):
            await part.start(no_failure)

    in_loop(test)


def test_a_store_that_cannot_be_believed_is_said_and_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "store/commitlog"
    log.mkdir(parents=True)
    (log / f"{0:020d}").write_bytes(b"\x01" * 65536)
    (tmp_path / "store/durable_mark").write_bytes(b"nonsense")

    async def test() -> None:
        part = BrokerPart(settings(tmp_path), Standin().build)
        with pytest.raises(CannotStart, match="durable_mark"):
            await part.start(no_failure)

    in_loop(test)
    assert (log / f"{0:020d}").read_bytes() == b"\x01" * 65536
    assert (tmp_path / "store/durable_mark").read_bytes() == b"nonsense"


def test_damaged_state_is_a_reason_not_to_start_and_everything_is_free_again(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        standin = Standin()
        standin.fault = CorruptFile("it is no JSON", path="config/topics.json")
        for _ in range(2):
            with pytest.raises(CannotStart, match=r"topics\.json"):
                await BrokerPart(settings(tmp_path), standin.build).start(no_failure)
        assert open_again(tmp_path / "store") == 0

    in_loop(test)


@pytest.mark.parametrize(
    ("host", "given", "shown"),
    [
        ("127.0.0.1", {}, "127.0.0.1"),
        ("127.0.0.1", {"brokerIP1": "10.1.2.3"}, "10.1.2.3"),
        ("::1", {}, "[::1]"),
    ],
)
def test_clients_and_slaves_are_told_where_it_is(
    tmp_path: Path, host: str, given: dict[str, str], shown: str
) -> None:
    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path, bindAddress=host, **given), standin.build)
        async with live(part) as port:
            assert standin.identity.address == f"{shown}:{port}"
            ha_host, _, ha_port = standin.identity.ha_address.rpartition(":")
            assert ha_host == shown
            assert int(ha_port) not in (0, port)
            assert (standin.identity.name, standin.identity.broker_id) == ("broker-a", 0)

    in_loop(test)


def test_a_role_that_the_service_asks_for_is_another_life_and_outlives_the_process(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path), standin.build)
        async with live(part) as port:
            changes = tmp_path / "store/config/aerobee.properties"
            changes.parent.mkdir(parents=True, exist_ok=True)
            changes.write_text("fileReservedTime=7\n")  # by request, since the start
            change = RoleChange(BrokerRole.SLAVE, 2, "127.0.0.1:1")
            part._rebuild(Rebuild("a test", role=change))
            part._rebuild(Rebuild("dropped: one is under way"))
            assert part._rebuilding is not None
            await part._rebuilding
            assert standin.stops == 1
            identity = standin.identity
            assert (identity.broker_id, identity.is_master) == (2, False)
            assert identity.address.endswith(f":{port}")
            with socket.create_connection(("127.0.0.1", port), timeout=10):
                pass
        again = settings(tmp_path)
        assert (again.broker_id, again.replication.role) == (2, BrokerRole.SLAVE)
        assert again.replication.master_ha_address == "127.0.0.1:1"
        assert again.service.retention_ms == 7 * 3_600_000

    in_loop(test)


class Restless(Standin):
    """Asks for another life in the first tick of each life but the third, before its start is
    over: as a member that is deposed while it is built as the leader."""

    def __init__(self) -> None:
        super().__init__()
        self.lives = 0

    def build(self, *told: Any) -> Standin:
        self.lives += 1
        self.ticks = 0
        return super().build(*told)

    def on_tick(self, now: Now) -> Effects:
        is_first = self.ticks == 0
        effects = super().on_tick(now)
        wish = Rebuild(f"after life {self.lives}", stage=Stage.ACTING)
        return [*effects, wish] if is_first and self.lives < 3 else effects


def test_a_life_that_asks_for_the_next_during_its_own_start_is_ended_first(tmp_path: Path) -> None:
    async def test() -> None:
        async with Running() as other:
            standin = Restless()
            standin.asks = f"127.0.0.1:{other.port}"
            part = BrokerPart(settings(tmp_path), standin.build)
            async with live(part) as port:
                assert part._rebuilding is not None
                await part._rebuilding
                assert (standin.lives, standin.stops) == (3, 2)
                answer = await asyncio.to_thread(ask, port)
                assert bytes(answer.body) == b"x"

    in_loop(test)


def test_slaves_are_served_on_the_port_that_was_given_or_nowhere(tmp_path: Path) -> None:
    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            told = settings(tmp_path, haListenPort=str(port))
            with pytest.raises(CannotStart, match="haListenPort"):
                await BrokerPart(told, Standin().build).start(no_failure)
        standin = Standin()
        async with live(BrokerPart(told, standin.build)):
            assert standin.identity.ha_address == f"127.0.0.1:{port}"

    in_loop(test)


def test_message_ids_point_to_where_it_is(tmp_path: Path) -> None:
    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path, brokerIP1="10.1.2.3"), standin.build)
        async with live(part) as port:
            assert standin.store is not None
            offset = standin.store.append(draft(b"x"), 1)
            standin.store.dispatch()
            record = standin.store.record_at(offset)
            assert record is not None
            assert bytes((10, 1, 2, 3)) + port.to_bytes(4, "big") in bytes(record)

    in_loop(test)


def test_an_address_that_is_none_is_said(tmp_path: Path) -> None:
    async def test() -> None:
        told = replace(settings(tmp_path), names=BrokerNames(host="no.such.host.invalid"))
        with pytest.raises(CannotStart, match=r"no\.such\.host\.invalid.*brokerIP1"):
            await BrokerPart(told, Standin().build).start(no_failure)
        assert list(tmp_path.iterdir()) == []

    in_loop(test)


def test_it_is_ready_when_the_name_servers_have_answered(tmp_path: Path) -> None:
    async def test() -> None:
        async with Running() as nameserver:
            standin = Standin()
            standin.asks = f"127.0.0.1:{nameserver.port}"
            part = BrokerPart(settings(tmp_path), standin.build, lambda: [standin.asks])
            async with live(part):
                assert standin.nameservers == [standin.asks]
                answer = standin.answers.get_nowait()
                assert answer is not None
                assert bytes(answer.body) == b"hello"

    in_loop(test)


def test_without_a_name_server_it_starts_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        for given, count in (({}, 1), ({"namesrvAddr": "127.0.0.1:1"}, 0)):
            caplog.clear()
            standin = Standin()
            part = BrokerPart(settings(tmp_path, **given), standin.build)
            with caplog.at_level(logging.WARNING):
                async with live(part):
                    assert caplog.text.count("no name server is told") == count

    in_loop(test)


def test_what_a_disk_thread_has_done_is_collected_at_once(tmp_path: Path) -> None:
    class Job:
        def __init__(self) -> None:
            self.over = asyncio.Event()

        def run(self) -> None:
            pass

        def done(self, error: BaseException | None) -> None:
            self.over.set()

    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path), standin.build)
        async with live(part):
            began = asyncio.get_running_loop().time()
            for _ in range(60):  # each would take a second, if nobody called
                job = Job()
                standin.worker.submit(Lane.BACKGROUND, job)
                await job.over.wait()
            assert asyncio.get_running_loop().time() - began < 30

    in_loop(test)


def test_settings_without_a_meaning_are_listed_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        given = {"sendMessageThreadPoolNums": "4", "deleteWhen": "04"}
        part = BrokerPart(settings(tmp_path, **given), Standin().build)
        with caplog.at_level(logging.INFO):
            async with live(part):
                assert caplog.text.count("deleteWhen, sendMessageThreadPoolNums") == 1

    in_loop(test)


def test_a_larger_message_fits_into_a_frame_when_it_is_allowed(tmp_path: Path) -> None:
    large = b"".join(encode(RemotingCommand(SILENCE, body=b"x" * (10 << 20))))

    def send(port: int) -> None:
        with WireClient(port) as client:
            client.write(large)
            assert bytes(client.ask(ECHO, body=b"next").body) == b"next"

    async def test() -> None:
        told = settings(tmp_path, maxMessageSize=str(10 << 20), mappedFileSizeCommitLog="20000000")
        part = BrokerPart(told, Standin().build)
        async with live(part) as port:
            await asyncio.to_thread(send, port)

    in_loop(test)


def test_a_failure_while_it_runs_is_told(tmp_path: Path) -> None:
    async def test() -> None:
        standin = Standin()
        part = BrokerPart(settings(tmp_path), standin.build)
        failures: asyncio.Queue[BaseException] = asyncio.Queue()
        async with live(part, failures.put_nowait) as port:
            standin.fault = OSError("disk")
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
            assert str(await failures.get()) == "disk"

    in_loop(test)


def test_channels_of_both_ports_have_numbers_of_their_own(tmp_path: Path) -> None:
    class Counting(Standin):
        seen: set[ChannelId]

        def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
            self.seen.add(channel)
            return super().on_command(channel, command, now)

    async def test() -> None:
        standin = Counting()
        standin.seen = set()
        part = BrokerPart(settings(tmp_path), standin.build)
        async with live(part) as port:
            with WireClient(port) as first, WireClient(port - 2) as second:
                for client in (first, second):
                    await asyncio.to_thread(client.ask, ECHO)
            assert len(standin.seen) == 2

    in_loop(test)


def test_it_can_be_reached_from_elsewhere_only_when_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert settings(tmp_path).listen == ListenConfig(0, "127.0.0.1")

    async def test() -> None:
        standin = Standin()
        told = settings(tmp_path, bindAddress="0.0.0.0", insecure="true")
        part = BrokerPart(told, standin.build)
        with caplog.at_level(logging.CRITICAL):
            async with live(part):
                assert "INSECURE: open to other machines" in caplog.text
                assert not standin.identity.address.startswith("0.0.0.0")

    in_loop(test)


def test_metrics_are_there_while_the_broker_is_and_not_longer(tmp_path: Path) -> None:
    async def run() -> None:
        told = {"metricsExporterType": "PROM", "metricsPromExporterPort": "0"}
        part = BrokerPart(settings(tmp_path, **told), Standin().build)
        place = await part.start(no_failure)
        assert re.fullmatch(r"broker 127\.0\.0\.1:\d+, metrics 127\.0\.0\.1:\d+", place)
        port = port_in(place)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert (await reader.read()).endswith(b"\r\n\r\nok\n")
        writer.close()
        await part.stop()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)

    in_loop(run)


def test_a_port_for_metrics_that_is_taken_is_said_and_nothing_is_touched(tmp_path: Path) -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            told = {"metricsExporterType": "PROM", "metricsPromExporterPort": port}
            part = BrokerPart(settings(tmp_path, **told), Standin().build)
            with pytest.raises(CannotStart, match="metricsPromExporterPort"):
                await part.start(no_failure)
        assert list(tmp_path.iterdir()) == []

    in_loop(run)
