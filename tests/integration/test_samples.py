"""Configurations, units and the container's file: what they say is so."""

import configparser
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from aerobee.app.settings import up_settings
from aerobee.app.settings.broker_settings import PORT, VIP_PORT_STEP, BrokerSettings, read_settings
from aerobee.app.settings.monitor_settings import MonitorConfig
from aerobee.app.settings.nameserver_settings import PORT as NAMESERVER_PORT
from aerobee.app.settings.nameserver_settings import read_settings as nameserver_settings
from aerobee.cli.main import main, parser_for
from aerobee.model.broker_role import BrokerRole
from aerobee.replication.config import ReplicationConfig
from aerobee.storage.config import FlushMode

ROOT = Path(__file__).resolve().parents[2]
BROKERS = sorted(path for path in (ROOT / "conf").rglob("*.conf") if path.name != "namesrv.conf")
MODE_FILES = [f"{path.parent.name}/{path.name}" for path in BROKERS if path.parent.name != "conf"]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
COMPOSED = sorted((ROOT / "deploy/compose").glob("*.yaml"))
PAGE = (ROOT / "docs/deploy.md").read_text("utf-8")
MASTERS, SLAVES = ("broker-a", "broker-b"), ("broker-a-s", "broker-b-s")


def settings(name: str) -> BrokerSettings:
    return read_settings(str(ROOT / "conf" / name), {}, [])


def understood(words: list[str]) -> None:
    """A command line of ours: it has such a noun, verb and flags."""
    assert words[0].endswith("aerobee")
    parser_for(words[1:2]).parse_args(words[1:])


@pytest.mark.parametrize("path", BROKERS, ids=lambda path: str(path.name))
def test_a_configuration_is_accepted_without_a_complaint(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["broker", "config", "-c", str(path)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "has no meaning" not in said.out
    assert f"# {path} line" in said.out


def test_the_name_servers_configuration_is_accepted_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["nameserver", "config", "-c", str(ROOT / "conf/namesrv.conf")]) == 0
    said = capsys.readouterr()
    assert (said.err, "has no meaning" in said.out) == ("", False)


def test_no_sample_listens_elsewhere_than_here_and_each_says_what_it_is_for() -> None:
    assert len(BROKERS) == 15
    for path in (*BROKERS, ROOT / "conf/namesrv.conf"):
        text = path.read_text("utf-8")
        assert "\nbindAddress=127.0.0.1\n" in text
        assert text.startswith("# ")
        for command in re.findall(r"^#   (aerobee .*)$", text, re.MULTILINE):
            understood(shlex.split(command))


def test_samples_promise_what_they_are_for(tmp_path: Path) -> None:
    (up,) = up_settings.read_settings(up_settings.UpFlags(str(tmp_path)), {}).brokers
    up = replace(up, storage=replace(up.storage, retention_ms=24 * 3_600_000))
    assert settings("single.conf").storage.flush_mode is FlushMode.SYNC
    assert not settings("single.conf").service.creates_topics
    assert settings("dev.conf").storage == up.storage
    assert settings("dev.conf").service.timer_log_file_bytes == up.service.timer_log_file_bytes
    for name in MASTERS:
        master = settings(f"2m-2s-sync/{name}.conf").replication
        assert (master.role, master.in_sync_replicas) == (BrokerRole.SYNC_MASTER, 2)
        assert settings(f"2m-2s-async/{name}.conf").replication == ReplicationConfig()


@pytest.mark.parametrize("mode", ["2m-noslave", "2m-2s-async", "2m-2s-sync"])
def test_brokers_of_a_mode_fit_on_one_machine_and_belong_together(mode: str) -> None:
    names = MASTERS if mode == "2m-noslave" else (*MASTERS, *SLAVES)
    assert {path.stem for path in BROKERS if path.parent.name == mode} == set(names)
    brokers = {name: settings(f"{mode}/{name}.conf") for name in names}
    ports = [
        port
        for one in brokers.values()
        for port in (
            one.listen.port,
            one.listen.port - VIP_PORT_STEP,
            one.names.ha_port or one.listen.port + 1,
            one.monitor.port,
        )
    ]
    assert len(ports) == len(set(ports)) == 4 * len(names)
    assert len({one.paths.root for one in brokers.values()}) == len(names)
    assert {one.names.cluster for one in brokers.values()} == {"DefaultCluster"}
    for name, one in brokers.items():
        is_slave = name in SLAVES
        assert one.names.name == name.removesuffix("-s")
        assert one.replication.role.is_master != is_slave
        assert one.broker_id == int(is_slave)
        assert not one.warnings


@pytest.mark.parametrize("path", UNITS, ids=lambda path: str(path.name))
def test_a_unit_starts_a_command_that_there_is_and_is_locked_in(path: Path) -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(path.read_text("utf-8"))
    service = unit["Service"]
    words = shlex.split(service["ExecStart"])
    understood(words)
    assert path.name in (f"aerobee-{words[1]}.service", f"aerobee-{words[1]}@.service")
    is_template = "@" in path.name
    files = {"broker": "single.conf", "nameserver": "namesrv.conf"}
    for file in MODE_FILES if is_template else [files[words[1]]]:
        folder = f"/var/lib/{service['StateDirectory']}".replace("%i", Path(file).stem)
        text = (ROOT / "conf" / file).read_text("utf-8")
        assert f"{folder}\n" in text or f"{folder}/" in text
    if not is_template:
        assert f"install -D -m 644 conf/{files[words[1]]} {words[-1]}" in PAGE
    assert service["RestartPreventExitStatus"] == "2"
    if words[1] == "broker":  # clients wait for its address; it must not be given up either
        assert (service["RestartSec"], unit["Unit"]["StartLimitIntervalSec"]) == ("1", "0")
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "true"
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] == "aerobee"
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_there_is_a_unit_for_each_server() -> None:
    assert [path.name for path in UNITS] == [
        "aerobee-broker.service",
        "aerobee-broker@.service",
        "aerobee-nameserver.service",
    ]


@pytest.mark.parametrize("mode", ["2m-noslave", "2m-2s-async", "2m-2s-sync", "raft"])
def test_the_page_starts_every_broker_of_a_mode_by_one_command(mode: str) -> None:
    text = PAGE.replace("\\\n", " ")
    after = text.partition(f"install -D -m 644 -t /etc/aerobee conf/{mode}/*.conf\n")[2]
    command = after.partition("\n")[0].split()
    assert command[:3] == ["systemctl", "enable", "--now"]
    files = [Path(file).stem for file in MODE_FILES if file.startswith(mode)]
    wanted = ["aerobee-nameserver", *(f"aerobee-broker@{name}" for name in files)]
    assert sorted(command[3:]) == sorted(wanted)


@pytest.mark.parametrize("path", COMPOSED, ids=lambda path: str(path.name))
def test_a_compose_file_runs_every_broker_of_its_mode_with_a_volume_each(path: Path) -> None:
    composed = yaml.safe_load(path.read_text("utf-8"))
    services = dict(composed["services"])
    commands = {name: shlex.split(one["command"]) for name, one in services.items()}
    for name, words in commands.items():
        understood(["aerobee", *words])
        assert services[name]["image"] == "aerobee"
        assert services[name]["volumes"] == [f"{name}:/var/lib/aerobee"]
    assert composed["volumes"] == {name: {} for name in services}
    assert nameserver_settings(None, services["nameserver"]["environment"], []).ignored == []
    files = [words[words.index("-c") + 1] for words in commands.values() if words[0] == "broker"]
    names = [file.removeprefix("/etc/aerobee/") for file in files]
    wanted = ["single.conf"] if path.stem == "single" else MODE_FILES
    assert sorted(names) == sorted(one for one in wanted if one.startswith(path.stem))
    for name in names:
        assert settings(name).paths.root.startswith("/var/lib/aerobee/")
    assert f"podman compose -f deploy/compose/{path.name} up" in PAGE


def test_every_mode_has_a_compose_file() -> None:
    modes = {Path(file).parent.name for file in MODE_FILES}
    assert {path.stem for path in COMPOSED} == {*modes, "single"}


def test_members_of_a_composed_group_find_each_other() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose/raft.yaml").read_text("utf-8"))["services"]
    members = {name: one for name, one in services.items() if name != "nameserver"}
    for name, member in members.items():
        group = read_settings(str(ROOT / f"conf/raft/{name}.conf"), member["environment"], []).raft
        assert [peer.address.partition(":")[0] for peer in group.peers] == list(members)
        own = next(peer for peer in group.peers if peer.node == group.node)
        assert own.address.startswith(f"{name}:")


def test_the_container_copies_what_is_there_and_runs_what_there_is() -> None:
    text = (ROOT / "deploy/Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#"]
    copied = [words for name, rest in lines if name == "COPY" for words in rest.split()[:-1]]
    sources = [word for word in copied if not word.startswith(("--", "/"))]
    package = ["pyproject.toml", "setup.py", "requirements.lock", "README.md", "LICENSE"]
    assert sources == [*package, "tools/locked.py", "src", "conf"]
    assert all((ROOT / source).exists() for source in sources)
    said = {name: rest for name, rest in lines if name in ("ENTRYPOINT", "CMD", "EXPOSE", "VOLUME")}
    command = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    understood(command)
    assert command[-1].startswith(f"{said['VOLUME']}/")
    ports = {NAMESERVER_PORT, PORT, PORT - VIP_PORT_STEP, MonitorConfig().port}
    assert set(map(int, said["EXPOSE"].split())) == ports
    extra = re.search(r"'aerobee\[(\w+)\]'", text)
    assert extra is not None
    assert f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize(("name", "count"), [("deploy", 11), ("replication", 18)])
def test_every_command_on_a_page_is_one_of_ours(name: str, count: int) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    commands = [line for kind, block in blocks if not kind for line in block.splitlines()]
    assert len(commands) == count
    for command in commands:
        understood(shlex.split(command))
        files = [word for word in shlex.split(command) if word.endswith(".conf")]
        assert all((ROOT / file).exists() for file in files)
    for file in re.findall(r"(?:conf|deploy)/[\w/.@-]+\w", page):
        assert (ROOT / file).exists(), file
