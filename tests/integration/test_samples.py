"""Configurations, units and the container's file: what they say is so."""

import configparser
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.app.settings import up_settings
from aerobee.app.settings.broker_settings import PORT, VIP_PORT_STEP, BrokerSettings, read_settings
from aerobee.app.settings.monitor_settings import MonitorConfig
from aerobee.app.settings.nameserver_settings import PORT as NAMESERVER_PORT
from aerobee.cli.main import main, parser_for
from aerobee.storage.config import FlushMode

ROOT = Path(__file__).resolve().parents[2]
BROKERS = sorted(path for path in (ROOT / "conf").rglob("*.conf") if path.name != "namesrv.conf")
UNITS = sorted((ROOT / "deploy").glob("*.service"))
PAGE = (ROOT / "docs/deploy.md").read_text("utf-8")


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
    assert len(BROKERS) == 4
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
    first, second = (settings(f"multi-master/broker-{name}.conf") for name in "ab")
    taken = [
        {one.listen.port, one.listen.port - VIP_PORT_STEP, one.monitor.port}
        for one in (first, second)
    ]
    assert not taken[0] & taken[1]
    assert first.names.cluster == second.names.cluster
    assert (first.names.name, second.names.name) == ("broker-a", "broker-b")
    assert first.paths.root != second.paths.root


@pytest.mark.parametrize("path", UNITS, ids=lambda path: str(path.name))
def test_a_unit_starts_a_command_that_there_is_and_is_locked_in(path: Path) -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(path.read_text("utf-8"))
    service = unit["Service"]
    words = shlex.split(service["ExecStart"])
    understood(words)
    assert f"aerobee-{words[1]}.service" == path.name
    file = {"broker": "single.conf", "nameserver": "namesrv.conf"}[words[1]]
    assert f"/var/lib/{service['StateDirectory']}/" in (ROOT / "conf" / file).read_text("utf-8")
    assert f"install -D -m 644 conf/{file} {words[-1]}" in PAGE
    assert service["RestartPreventExitStatus"] == "2"
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "true"
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] == "aerobee"
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_there_is_a_unit_for_each_server() -> None:
    assert [path.name for path in UNITS] == ["aerobee-broker.service", "aerobee-nameserver.service"]


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


def test_every_command_on_the_page_is_one_of_ours() -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    commands = [line for kind, block in blocks if not kind for line in block.splitlines()]
    assert len(commands) == 10
    for command in commands:
        understood(shlex.split(command))
        files = [word for word in shlex.split(command) if word.endswith(".conf")]
        assert all((ROOT / file).exists() for file in files)
    for file in re.findall(r"(?:conf|deploy)/[\w/.-]+\w", PAGE):
        assert (ROOT / file).exists(), file
