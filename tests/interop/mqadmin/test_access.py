"""The auth sub-commands of mqadmin 5.5.0 on servers with authentication on, Apache's and ours, with
credentials that are right, wrong and missing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.apache import Jars
from tests.interop.features.guarded import (
    ROOT,
    ROOT_SECRET,
    AerobeeGuarded,
    Guarded,
    start_guarded,
)
from tests.interop.mqadmin.admin import Admin

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

SECONDS_MAX = 60
REFUSED = "CODE: 16"
SECRET = "alice-hidden"


class Tool:
    """mqadmin, with the credentials that a test gives it."""

    def __init__(self, folder: Path, server: Guarded) -> None:
        self._file = folder / "conf" / "tools.yml"
        self._file.parent.mkdir(parents=True)
        self._name_server = server.name_server
        self.broker = f"127.0.0.1:{server.broker_port}"
        self.is_ours = isinstance(server, AerobeeGuarded)
        self.sign(ROOT, ROOT_SECRET)
        self.admin = Admin(folder, self._name_server)

    def sign(self, key: str, secret: str) -> None:
        self._file.write_text(f"accessKey: {key}\nsecretKey: {secret}\n")

    def run(self, command: str) -> str:
        words = command.format(broker=self.broker).split()
        return self.admin.run([*words, "-n", self._name_server], SECONDS_MAX).text


@pytest.fixture(scope="module", params=["apache", "aerobee"])
def tool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Tool]:
    folder = tmp_path_factory.mktemp(request.param)
    with start_guarded(request.param, folder / "server", jars) as server:
        made = Tool(folder / "tool", server)
        with made.admin:
            yield made


def test_mqadmin_manages_users(tool: Tool) -> None:
    tool.sign(ROOT, ROOT_SECRET)
    said = tool.run(f"createUser -b {{broker}} -u alice -p {SECRET} -t Normal")
    assert "create user to" in said
    assert "success" in said
    assert "The user is existed" in tool.run(f"createUser -b {{broker}} -u alice -p {SECRET}")
    assert "alice" in tool.run("getUser -b {broker} -u alice")
    # Apache's shows passwords.
    assert (SECRET in tool.run("listUser -b {broker}")) != tool.is_ours
    assert "alice" not in tool.run("listUser -b {broker} -f inn")
    assert "success" in tool.run("updateUser -b {broker} -u alice -s disable")
    assert "disable" in tool.run("getUser -b {broker} -u alice")
    assert "success" in tool.run("updateUser -b {broker} -u alice -s enable")
    assert "success" in tool.run("updateUser -b {broker} -u alice -t Super")
    assert "Super" in tool.run("getUser -b {broker} -u alice")
    assert "success" in tool.run("updateUser -b {broker} -u alice -t Normal")
    copied = tool.run("copyUser -f {broker} -t {broker} -u alice")
    assert "copy user of alice from" in copied, copied
    assert "success" in tool.run("deleteUser -b {broker} -u alice")
    assert "alice" not in tool.run("listUser -b {broker}")
    assert "success" in tool.run("deleteUser -b {broker} -u alice")
    assert "The user is not exist" in tool.run("updateUser -b {broker} -u alice -t Super")


def test_mqadmin_manages_rules(tool: Tool) -> None:
    tool.sign(ROOT, ROOT_SECRET)
    tool.run(f"createUser -b {{broker}} -u carol -p {SECRET}")
    rule = "-s User:carol -r Topic:T -a Pub,Sub -d Allow -i 127.0.0.1"
    assert "success" in tool.run(f"createAcl -b {{broker}} {rule}")
    shown = tool.run("getAcl -b {broker} -s User:carol")
    for part in ("User:carol", "Custom", "Topic:T", "[Pub, Sub]", "127.0.0.1", "Allow"):
        assert part in shown
    assert "success" in tool.run(f"updateAcl -b {{broker}} {rule.replace('Allow', 'Deny')}")
    assert "Deny" in tool.run("listAcl -b {broker} -s carol")
    assert "Topic:T" in tool.run("listAcl -b {broker} -r Topic:T")
    copied = tool.run("copyAcl -f {broker} -t {broker} -s User:carol")
    assert "copy acl of User:carol from" in copied, copied
    assert "success" in tool.run("deleteAcl -b {broker} -s User:carol -r Topic:T")
    assert "Topic:T" not in tool.run("listAcl -b {broker}")
    tool.run("deleteUser -b {broker} -u carol")


def test_mqadmin_without_rights_is_refused_by_the_broker_and_by_our_name_server(tool: Tool) -> None:
    tool.sign(ROOT, ROOT_SECRET)
    assert "broker-a" in tool.run("clusterList")
    tool.run(f"createUser -b {{broker}} -u bob -p {SECRET}")
    commands = ["listUser -b {broker}", "listAcl -b {broker}", "brokerStatus -b {broker}"]
    commands += ["deleteUser -b {broker} -u root"]
    if tool.is_ours:
        commands.append("clusterList")
    for key, secret in (("", ""), (ROOT, "guess"), ("bob", SECRET)):
        tool.sign(key, secret)
        for command in commands:
            # Every user may ask Apache's broker for its status.
            is_open = not tool.is_ours and key == "bob" and command.startswith("brokerStatus")
            assert (REFUSED in tool.run(command)) != is_open, (key, command)
