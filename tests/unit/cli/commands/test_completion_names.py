import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.cli.commands.completion_names import Found, Kind, fitting, kind_of, wanted_at
from aerobee.cli.main import parser_for
from aerobee.cli.nouns import NOUNS
from tests.process_kit import Started
from tests.server_kit import Server, running_server

PATIENT = ("--seconds", "100")
"""For a busy machine."""
SILENT_SERVERS = 10


@pytest.fixture(scope="module")
def filled(server: Server) -> Server:
    """A cluster with two topics and a group."""
    asyncio.run(fill(server))
    return server


async def fill(server: Server) -> None:
    async with server.connect() as client:
        for topic in ("tab-orders", "tab-payments"):
            await client.admin.topics.create(topic, queues=1)
        async with client.consumer("tab-orders", group="tab-billing", start="earliest"):
            pass


@pytest.fixture
def silent() -> Iterator[str]:
    """Name servers that take connections and never say anything."""
    with socket.create_server(("0.0.0.0", 0), backlog=SILENT_SERVERS) as listening:
        port = listening.getsockname()[1]
        yield ";".join(f"127.0.0.{number}:{port}" for number in range(1, SILENT_SERVERS + 1))


def told(line: str, *flags: str, **variables: str) -> list[str]:
    """The names that a shell is told; nothing else is said, and the status is 0."""
    done = subprocess.run(
        [sys.executable, "-m", "aerobee", "completion", "names", *flags, line],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def kind_at(line: str) -> Kind | None:
    wanted = wanted_at(line)
    return None if wanted is None else wanted.kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("aerobee topic describe ", Kind.TOPIC),
        ("aerobee topic delete ", Kind.TOPIC),
        ("aerobee topic describe -o json --wide ", Kind.TOPIC),
        ("aerobee message get ", Kind.TOPIC),
        ("aerobee dlq resend billing --all --to ", Kind.TOPIC),
        ("aerobee pipeline run replay --topic orders --to-topic ", Kind.TOPIC),
        ("aerobee bench consume --topic ", Kind.TOPIC),
        ("aerobee group describe ", Kind.GROUP),
        ("aerobee group reset ", Kind.GROUP),
        ("aerobee group reset billing ", Kind.TOPIC),
        ("aerobee group reset --to 2h -n a:1 billing ", Kind.TOPIC),
        ("aerobee offset clone billing ", Kind.GROUP),
        ("aerobee message resend orders --group ", Kind.GROUP),
        ("aerobee explain group ", Kind.GROUP),
        ("aerobee broker drain ", Kind.BROKER),
        ("aerobee topic create new --on ", Kind.PLACE),
        ("aerobee topic list --context ", Kind.CONTEXT),
        ("aerobee context use ", Kind.CONTEXT),
        ("aerobee context remove ", Kind.CONTEXT),
        ("FOO=1 ~/bin/aerobee topic describe ", Kind.TOPIC),
        # Names that are to be new, other arguments, and lines that are no commands.
        ("aerobee topic create ", None),
        ("aerobee group create ", None),
        ("aerobee context add ", None),
        ("aerobee topic describe orders ", None),
        ("aerobee message send orders ", None),
        ("aerobee topic describe --watch ", None),
        ("aerobee topic create orders --queues ", None),
        ("aerobee store log data --topic ", None),
        ("aerobee topic ", None),
        ("aerobee nothing ", None),
        ("aerobee ", None),
        ("", None),
    ],
)
def test_the_parser_says_which_name_is_wanted(line: str, kind: Kind | None) -> None:
    assert kind_at(line) is kind


@pytest.mark.parametrize(
    ("line", "prefix", "name_server", "context"),
    [
        ("aerobee topic describe ", "", None, None),
        ("aerobee topic describe ord", "ord", None, None),
        ("aerobee topic describe 'ord", "ord", None, None),
        ('aerobee topic describe "ord', "ord", None, None),
        ("aerobee topic describe -n h:1 ord", "ord", "h:1", None),
        ("aerobee topic describe -nh:1 ord", "ord", "h:1", None),
        ("aerobee topic describe --name-server=h:1;i:2 ord", "ord", "h:1;i:2", None),
        ("aerobee topic describe --name-server 'h:1;i:2' ord", "ord", "h:1;i:2", None),
        ("aerobee topic describe --context dev ord", "ord", None, "dev"),
        ("aerobee pipeline run lake -n h:1 --topic ord", "ord", "h:1", None),
    ],
)
def test_the_line_says_which_cluster_is_asked(
    line: str, prefix: str, name_server: str | None, context: str | None
) -> None:
    wanted = wanted_at(line)
    assert wanted is not None
    assert (wanted.prefix, wanted.where.name_server, wanted.where.context) == (
        prefix,
        name_server,
        context,
    )


def test_every_flag_of_a_context_and_every_broker_to_go_to_is_a_name() -> None:
    checked = 0
    parsers = [(parser_for(tuple(NOUNS)), "")]
    while parsers:
        parser, path = parsers.pop()
        for action in parser._actions:
            if isinstance(action.choices, dict):
                parsers += [(child, f"{path} {word}") for word, child in action.choices.items()]
            elif {"--context", "--on"} & {*action.option_strings}:
                assert kind_of(path, action) in (Kind.CONTEXT, Kind.PLACE)
                checked += 1
    assert checked > 50


def test_hidden_names_are_told_once_no_other_begins_so() -> None:
    found = Found(["orders", "rooms"], ["%RETRY%billing", "orderly"])
    assert fitting(found, "") == ["orders", "rooms"]
    assert fitting(found, "o") == ["orders"]
    assert fitting(found, "orderl") == ["orderly"]
    assert fitting(found, "%") == ["%RETRY%billing"]
    assert fitting(Found([], ["%RETRY%billing"]), "") == []


def test_a_name_that_is_no_word_is_not_told() -> None:
    assert fitting(Found(["a b", "a\x1b[2J", "a\nb", "a|b", "ä"], []), "") == ["a|b", "ä"]


def test_a_cluster_tells_its_names(filled: Server) -> None:
    at = f"-n {filled.name_server}"
    for line, names in (
        (f"aerobee topic describe {at} tab-", ["tab-orders", "tab-payments"]),
        (f"aerobee topic describe {at} tab-p", ["tab-payments"]),
        (f"aerobee topic describe {at} %RETRY%tab-", ["%RETRY%tab-billing"]),
        (f"aerobee group describe {at} tab", ["tab-billing"]),
        (f"aerobee broker drain {at} ", ["broker-a"]),
        (f"aerobee topic create new {at} --on ", ["DefaultCluster", "broker-a"]),
    ):
        assert told(line, *PATIENT) == names, line
    plain = told(f"aerobee topic describe {at} ", *PATIENT)
    assert "tab-orders" in plain
    assert not {"TBW102", "DefaultCluster", "broker-a", "DefaultCluster_REPLY_TOPIC"} & {*plain}
    assert not any(name.startswith(("%", "rmq_sys", "RMQ_SYS")) for name in plain)


def test_the_cluster_is_the_one_that_a_command_would_ask(filled: Server, tmp_path: Path) -> None:
    file = tmp_path / "contexts.json"
    contexts = {"here": filled.name_server, "nowhere": "127.0.0.1:1"}
    file.write_text(json.dumps({"current": "here", "contexts": contexts}))
    variables = {"AEROBEE_CONFIG": str(file)}
    line = "aerobee topic describe {} tab-o"
    assert told(line.format(""), *PATIENT, **variables) == ["tab-orders"]
    assert told(line.format("--context here"), *PATIENT, **variables) == ["tab-orders"]
    assert told(line.format("--context nowhere"), *PATIENT, **variables) == []
    assert told("aerobee context use ", **variables) == ["here", "nowhere"]
    assert told("aerobee topic list --context h", **variables) == ["here"]
    other = {"AEROBEE_CONFIG": str(tmp_path / "none"), "NAMESRV_ADDR": filled.name_server}
    assert told(line.format(""), *PATIENT, **other) == ["tab-orders"]


def test_a_name_server_that_is_gone_leaves_the_question_to_the_next(filled: Server) -> None:
    at = f"-n '127.0.0.1:1;{filled.name_server}'"
    assert told(f"aerobee group describe {at} tab", *PATIENT) == ["tab-billing"]


def test_a_broker_that_is_silent_does_not_hide_the_groups_of_the_others(tmp_path: Path) -> None:
    with running_server(tmp_path / "up") as server:
        asyncio.run(fill(server))
        at, store = ("-n", server.name_server), ("--store", str(tmp_path / "other"))
        name = {"AEROBEE_BROKER_BROKER_NAME": "other"}
        with Started(tmp_path, "broker", "start", *at, *store, "--port", "0", **name) as other:
            other.ports()
            line = f"aerobee broker drain -n {server.name_server} "
            assert told(line, *PATIENT) == ["broker-a", "other"]
            other.process.send_signal(signal.SIGSTOP)
            line = f"aerobee group describe -n {server.name_server} tab"
            assert told(line, "--seconds", "8") == ["tab-billing"]
            other.process.send_signal(signal.SIGCONT)
            other.stop()


def test_what_goes_wrong_is_not_said(tmp_path: Path) -> None:
    broken = tmp_path / "contexts.json"
    broken.write_text("no json")
    for line, variables in (
        ("aerobee topic describe -n 127.0.0.1:1 ", {}),
        ("aerobee group describe -n 127.0.0.1:1 ", {}),
        ("aerobee topic describe -n no-address ", {}),
        ("aerobee topic describe -n '' ", {"NAMESRV_ADDR": "::::"}),
        ("aerobee topic describe --context gone ", {}),
        ("aerobee context use ", {"AEROBEE_CONFIG": str(broken)}),
        ("aerobee topic describe ", {"AEROBEE_CONFIG": str(broken)}),
        ("aerobee topic 'describe\\", {}),
        ("-x --help", {}),
    ):
        where = {"AEROBEE_CONFIG": str(tmp_path / "none"), **variables}
        assert told(line, *PATIENT, **where) == [], line


def test_a_server_that_speaks_something_else_is_not_complained_of() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=answer)
        answering.start()
        port = listening.getsockname()[1]
        assert told(f"aerobee topic describe -n 127.0.0.1:{port} ", *PATIENT) == []
        answering.join()


def test_a_cluster_that_is_silent_is_not_waited_for(silent: str) -> None:
    began = time.monotonic()
    assert told(f"aerobee group describe -n '{silent}' ") == []
    # Each of the ten would be waited for for three seconds by any other command.
    assert time.monotonic() - began < 20


def test_when_the_time_is_over_the_process_ends_wherever_it_is(filled: Server) -> None:
    line = f"aerobee topic describe -n {filled.name_server} tab-"
    assert told(line, "--seconds", "0.001") == []
