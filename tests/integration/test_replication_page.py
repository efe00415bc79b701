"""The steps of docs/replication.md with real processes: a master and its slave, the loss of the
master, the promotion, and the return of the old master."""

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import pull_fields
from tests.cli_kit import Said, aerobee
from tests.client_kit import session_of
from tests.process_kit import SECONDS_MAX, Started
from tests.server_kit import Server

ROOT = Path(__file__).resolve().parents[2]
BODIES = [b"before", b"after"]


class Steps:
    """Processes in one folder, and the commands of the page."""

    def __init__(self, home: Path) -> None:
        self._home = home
        paths = {
            "AEROBEE_NAMESRV_KV_CONFIG_PATH": str(home / "kvConfig.json"),
            "AEROBEE_NAMESRV_CONFIG_STORE_PATH": str(home / "namesrv.properties"),
        }
        self.name_server = Started(home, "nameserver", "start", "--port", "0", **paths)
        self.server = Server(f"127.0.0.1:{self.name_server.ports()['nameserver']}")

    def broker(self, name: str) -> tuple[Started, str]:
        """A broker of the synchronous mode, in small files and on free ports; its address."""
        started = Started(
            self._home,
            *("broker", "start", "-c", str(ROOT / f"conf/2m-2s-sync/{name}.conf")),
            *("-n", self.server.name_server, "--port", "0", "--store", str(self._home / name)),
            AEROBEE_BROKER_HA_LISTEN_PORT="0",
            AEROBEE_BROKER_METRICS_EXPORTER_TYPE="DISABLE",
            AEROBEE_BROKER_MAPPED_FILE_SIZE_COMMIT_LOG=str(16 << 20),
        )
        return started, f"127.0.0.1:{started.ports()['broker']}"

    def run(self, *words: str) -> Said:
        return aerobee(self.server, *words)

    def replicas(self) -> dict[str, Any]:
        """What `aerobee broker replicas` shows, by address."""
        said = self.run("broker", "replicas", "-o", "json")
        return {one["address"]: one for one in said.records} if said.status == 0 else {}

    def until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS_MAX
        while not is_so(found := self.replicas()):
            assert time.monotonic() < deadline, found
        return found

    def until_copied(self, topic: str, address: str) -> None:
        """Until a slave has copied the settings of a topic, which it does every few seconds."""

        async def look() -> None:
            async with self.server.connect() as client:
                while True:
                    (configs,) = (await client.admin.topics.configs(on=address)).values()
                    if topic in [config.name for config in configs]:
                        return

        asyncio.run(look())

    def bodies(self, topic: str, address: str) -> list[bytes]:
        """What a broker has in the first queue of a topic, asked by its address."""

        async def pull() -> list[bytes]:
            async with self.server.connect() as client:
                session = session_of(client)
                command = RemotingCommand(11, ext_fields=pull_fields(topic=topic))
                answer = await session.ask(address, command)
                return [message.body for message in client_messages(bytes(answer.body))]

        return asyncio.run(pull())


def _are_in_sync(found: dict[str, Any]) -> bool:
    slaves = [one for one in found.values() if one["id"]]
    return len(slaves) == 1 and all(one["in_sync"] and not one["lag_bytes"] for one in slaves)


def test_a_slave_takes_over_and_the_old_master_follows_it(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    with steps.name_server:
        master, old = steps.broker("broker-a")
        slave, new = steps.broker("broker-a-s")
        with master, slave:
            found = steps.until(_are_in_sync)
            assert [found[one]["role"] for one in (old, new)] == ["SYNC_MASTER", "SLAVE"]
            steps.server.create("orders", queues=1)
            steps.server.send("orders", BODIES[:1])
            steps.until_copied("orders", new)
            refused = steps.run("broker", "promote", "broker-a", "--yes")
            assert (refused.status, f"answers: {old}" in refused.error) == (1, True)
            master.stop(signal.SIGKILL)
            steps.until(lambda found: list(found) == [new])
            assert "NO MASTER" in steps.run("explain", "broker", "broker-a").out
            dry = steps.run("broker", "promote", "broker-a", "--dry-run")
            assert f"would make {new} (id 1" in dry.out
            said = steps.run("broker", "promote", "broker-a", "--role", "ASYNC_MASTER", "--yes")
            assert said.status == 0, said.error
            steps.until(lambda found: found.get(new, {}).get("role") == "ASYNC_MASTER")
            steps.server.send("orders", BODIES[1:])
            again, old = steps.broker("broker-a")
            with again:
                # It may have taken the new master's place at the name server for a moment.
                said = steps.run("broker", "demote", old, "--master", new, "--yes")
                assert said.status == 0, said.error
                found = steps.until(_are_in_sync)
                assert (found[new]["id"], found[old]["id"]) == (0, 1)
                assert found[old]["offset"] == found[new]["offset"]
                assert steps.run("cluster", "health").status == 0
                assert [steps.bodies("orders", one) for one in (new, old)] == [BODIES, BODIES]
                again.stop()
            slave.stop()
        steps.name_server.stop()
