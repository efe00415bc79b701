"""A change of rights at a master: how soon its slave and the name server know it."""

import re
import time
from pathlib import Path

from aerobee.model.access import Credentials, Rights, Rule, User
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.access_kit import is_refused
from tests.access_samples import ORDERS
from tests.broker_kit import create_fields
from tests.integration.test_access import ACCESS
from tests.process_kit import SECONDS_MAX, Started
from tests.wire_client import WireClient

ROOT = Credentials("root", "root-hidden")
ALICE = Credentials("alice", "alice-hidden")
ROUNDS = 5
RIGHTS = encode_rights(Rights("User:alice", (Rule("Topic:Orders", ("Sub", "Get")),)))
QUESTIONS = {
    "name server": (105, {"topic": "Orders"}),
    "slave": (30, {"topic": "Orders", "queueId": "0"}),
}


def broker_ports(nameserver: int) -> tuple[int, int]:
    """Of the master and its slave, once the name server knows both."""
    end = time.monotonic() + SECONDS_MAX
    with WireClient(nameserver, login=ROOT) as client:
        while time.monotonic() < end:
            told = bytes(client.ask(106).body).decode()
            found = dict(re.findall(r'"?([01])"?:"127\.0\.0\.1:(\d+)"', told))
            if len(found) == 2:
                return int(found["0"]), int(found["1"])
    raise AssertionError("the slave has not registered")


def seconds_until(client: WireClient, place: str, *, is_allowed: bool) -> float:
    code, fields = QUESTIONS[place]
    began = time.monotonic()
    while is_refused(client.ask(code, fields)) == is_allowed:
        assert time.monotonic() - began < SECONDS_MAX
    return time.monotonic() - began


def told(answer: RemotingCommand) -> None:
    assert answer.code == 0, answer.remark


def test_a_change_of_rights_reaches_the_slave_and_the_name_server(tmp_path: Path) -> None:
    words = ("up", "--store", str(tmp_path / "up"), "--port", "0", "--nameserver-port", "0")
    with Started(tmp_path, *words, "--slaves", "1", **ACCESS) as process:
        nameserver = process.ports()["nameserver"]
        master, slave = broker_ports(nameserver)
        at = {"name server": nameserver, "slave": slave}
        longest = dict.fromkeys(QUESTIONS, 0.0)
        with WireClient(master, login=ROOT) as root:
            told(root.ask(17, create_fields(ORDERS)))
            told(root.ask(3001, {"username": "alice"}, encode_user(User("alice", "alice-hidden"))))
            askers = {place: WireClient(port, login=ALICE) for place, port in at.items()}
            for number in range(ROUNDS):
                told(root.ask(3006, {"subject": "User:alice"}, RIGHTS))
                for place, asker in askers.items():
                    took = seconds_until(asker, place, is_allowed=True)
                    # In the first round the slave may not have copied the topic yet.
                    longest[place] = max(longest[place], took if number else 0.0)
                told(root.ask(3008, {"subject": "User:alice"}))
                for place, asker in askers.items():
                    took = seconds_until(asker, place, is_allowed=False)
                    longest[place] = max(longest[place], took)
            for asker in askers.values():
                asker.close()
        for place, seconds in longest.items():
            print(f"{place}: {seconds:.2f} s at most, of {2 * ROUNDS - 1} changes")
