"""The auth sub-commands of mqadmin 5.5.0 on our servers with authentication on, with credentials
that are right, wrong and missing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.test_access import ACCESS
from tests.interop.apache import Jars
from tests.interop.mqadmin.admin import Admin
from tests.process_kit import Started

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

SECONDS_MAX = 60
REFUSED = "CODE: 16"


class Tool:
    """mqadmin, with the credentials that a test gives it."""

    def __init__(self, folder: Path, ports: dict[str, int]) -> None:
        self._file = folder / "conf" / "tools.yml"
        self._file.parent.mkdir(parents=True)
        self._name_server = f"127.0.0.1:{ports['nameserver']}"
        self.broker = f"127.0.0.1:{ports['broker']}"
        self.sign("root", "root-hidden")
        self.admin = Admin(folder, self._name_server)

    def sign(self, key: str, secret: str) -> None:
        self._file.write_text(f"accessKey: {key}\nsecretKey: {secret}\n")

    def run(self, command: str) -> str:
        words = command.format(broker=self.broker).split()
        return self.admin.run([*words, "-n", self._name_server], SECONDS_MAX).text


@pytest.fixture
def tool(tmp_path: Path, jars: Jars) -> Iterator[Tool]:
    words = ("up", "--store", str(tmp_path / "up"), "--port", "0", "--nameserver-port", "0")
    with Started(tmp_path, *words, **ACCESS) as process:
        made = Tool(tmp_path / "tool", process.ports())
        with made.admin:
            yield made


def test_mqadmin_manages_users_and_rules(tool: Tool) -> None:
    said = tool.run("createUser -b {broker} -u alice -p alice-hidden -t Normal")
    assert "create user to" in said
    assert "success" in said
    assert "alice" in tool.run("getUser -b {broker} -u alice")
    assert "alice-hidden" not in tool.run("listUser -b {broker}")
    assert "success" in tool.run("updateUser -b {broker} -u alice -s disable")
    assert "disable" in tool.run("getUser -b {broker} -u alice")
    assert "success" in tool.run("updateUser -b {broker} -u alice -s enable")
    rule = "-s User:alice -r Topic:T -a Pub,Sub -d Allow -i 127.0.0.1"
    assert "success" in tool.run(f"createAcl -b {{broker}} {rule}")
    shown = tool.run("getAcl -b {broker} -s User:alice")
    for part in ("User:alice", "Custom", "Topic:T", "[Pub, Sub]", "127.0.0.1", "Allow"):
        assert part in shown
    assert "success" in tool.run(f"updateAcl -b {{broker}} {rule.replace('Allow', 'Deny')}")
    assert "Deny" in tool.run("listAcl -b {broker} -s alice")
    assert "success" in tool.run("deleteAcl -b {broker} -s User:alice -r Topic:T")
    assert "Topic:T" not in tool.run("listAcl -b {broker}")
    assert "success" in tool.run("deleteUser -b {broker} -u alice")
    assert "alice" not in tool.run("listUser -b {broker}")


def test_mqadmin_without_rights_is_refused_by_broker_and_name_server(tool: Tool) -> None:
    assert "broker-a" in tool.run("clusterList")
    tool.run("createUser -b {broker} -u alice -p alice-hidden")
    for key, secret in (("", ""), ("root", "guess"), ("alice", "alice-hidden")):
        tool.sign(key, secret)
        for command in ("listUser -b {broker}", "brokerStatus -b {broker}", "clusterList"):
            assert REFUSED in tool.run(command), (key, command)
