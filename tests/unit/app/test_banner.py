import os
import shlex
import sys
from dataclasses import replace

import pytest

from aerobee.app.banner import (
    NAME_SERVER_VARIABLE,
    REPLICA_TRIES,
    TRIES,
    BannerFacts,
    BrokerPlace,
    Kept,
    Programs,
    banner,
    kept_text,
    programs_here,
    reachable,
)
from aerobee.app.data_folder import DataFolder
from aerobee.app.ink import Ink
from aerobee.app.process.holdings import Holdings
from aerobee.app.process.process_figures import MIB, Memory
from aerobee.cli.cluster_verbs import NAME_SERVER_VARIABLES
from aerobee.cli.main import parser_for
from aerobee.model.broker_role import BrokerRole
from aerobee.net.listener import outward_address
from aerobee.net.tls_config import TlsMode
from aerobee.replication.config import ReplicationConfig

FOLDER = DataFolder(os.path.abspath("data"), False)
FACTS = BannerFacts(
    "127.0.0.1:9876",
    [BrokerPlace("broker-a", "127.0.0.1:10911")],
    ["127.0.0.1:5557"],
    FOLDER,
    Holdings(),
    memory=Memory(43 * MIB, 18 * MIB),
    seconds=0.52,
)

SYNC = ReplicationConfig(BrokerRole.SYNC_MASTER, in_sync_replicas=2)
SLAVE = ReplicationConfig(BrokerRole.SLAVE)


def said(facts: BannerFacts) -> list[str]:
    return banner(facts, Ink(False)).splitlines()


def test_it_says_where_everything_is_and_what_it_took() -> None:
    lines = said(FACTS)
    assert "Aerobee is up: 0.5 s, 43 MiB. Ctrl-C stops it." in lines
    assert "  name server  127.0.0.1:9876" in lines
    assert "  broker-a     127.0.0.1:10911" in lines
    assert "  metrics      http://127.0.0.1:5557/metrics" in lines
    assert "  data         ./data, nothing in it yet" in lines
    assert '  Java         producer.setNamesrvAddr("127.0.0.1:9876");' in lines
    assert "  mqadmin      mqadmin clusterList -n 127.0.0.1:9876" in lines


def test_it_fits_80_columns_and_has_no_colour_where_there_is_none() -> None:
    programs = Programs(".venv/bin/aerobee", ".venv/bin/python")
    several = [
        BrokerPlace(f"broker-{name}", "127.0.0.1:60911", broker_id, replication)
        for name in "abc"
        for broker_id, replication in ((0, SYNC), (1, SLAVE))
    ]
    text = banner(replace(FACTS, brokers=several, nameserver="127.0.0.1:60876"), Ink(False))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert max(map(len, said(replace(FACTS, programs=programs)))) <= 80


def test_the_python_stands_at_the_left_edge_with_the_address_in_it() -> None:
    lines = said(replace(FACTS, nameserver="127.0.0.1:7"))
    start = lines.index("import aerobee")
    snippet = "\n".join(lines[start : lines.index("", start)])
    compile(snippet, "banner", "exec")
    assert 'connect_sync("127.0.0.1:7")' in snippet


def test_commands_are_told_of_a_name_server_only_when_it_is_not_the_usual_one() -> None:
    commands = [line for line in said(FACTS) if " aerobee " in line]
    assert len(commands) == len(TRIES)
    assert not any(NAME_SERVER_VARIABLE in line for line in said(FACTS))
    line = "  next         export AEROBEE_NAME_SERVER=127.0.0.1:7"
    assert line in said(replace(FACTS, nameserver="127.0.0.1:7"))
    assert NAME_SERVER_VARIABLE in NAME_SERVER_VARIABLES


@pytest.mark.parametrize("words", [*TRIES, *REPLICA_TRIES])
def test_what_to_try_is_a_command(words: str) -> None:
    said = shlex.split(words)
    assert parser_for(said[:1]).parse_args(said).verb


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (Holdings(frozenset(), 0), "./data, nothing in it yet"),
        (Holdings(frozenset("a"), 1), "./data, goes on with 1 message in 1 topic"),
        (Holdings(frozenset("ab"), 1204), "./data, goes on with 1,204 messages in 2 topics"),
    ],
)
def test_what_it_goes_on_with_is_said(held: Holdings, text: str) -> None:
    assert kept_text(FOLDER, held) == text


def test_that_a_folder_will_be_removed_is_said() -> None:
    folder = DataFolder("/x/aerobee-1", True)
    assert kept_text(folder, Holdings()) == "/x/aerobee-1, temporary: removed at the stop"


def test_brokers_that_are_not_started_are_missed() -> None:
    line = "               3 brokers have messages there; say --brokers 3"
    assert line in said(replace(FACTS, kept=Kept(3)))
    assert line not in said(replace(FACTS, kept=Kept(1)))
    pair = [*FACTS.brokers, BrokerPlace("broker-a", "127.0.0.1:10921", 1, SLAVE)]
    assert "               2 brokers have messages there; say --brokers 2" in said(
        replace(FACTS, brokers=pair, kept=Kept(2, 1))
    )


def test_slaves_that_are_not_started_are_missed() -> None:
    line = "               slaves have copies there; say --slaves 1"
    assert line in said(replace(FACTS, kept=Kept(1, 1)))
    pair = [*FACTS.brokers, BrokerPlace("broker-a", "127.0.0.1:10921", 1, SLAVE)]
    assert line not in said(replace(FACTS, brokers=pair, kept=Kept(1, 1)))


def test_roles_are_shown_where_there_are_slaves_each_below_its_master() -> None:
    lines = said(
        replace(
            FACTS,
            brokers=[
                BrokerPlace("broker-a", "127.0.0.1:10911", 0, SYNC),
                BrokerPlace("broker-b", "127.0.0.1:10921"),
                BrokerPlace("broker-a", "127.0.0.1:10931", 1, SLAVE),
                BrokerPlace("broker-b", "127.0.0.1:10941", 1, SLAVE),
            ],
        )
    )
    start = lines.index("  broker-a     127.0.0.1:10911  SYNC_MASTER, inSyncReplicas=2")
    assert lines[start + 1 : start + 4] == [
        "               127.0.0.1:10931  SLAVE 1",
        "  broker-b     127.0.0.1:10921  ASYNC_MASTER",
        "               127.0.0.1:10941  SLAVE 1",
    ]
    assert "  next         aerobee broker replicas" in lines


@pytest.mark.parametrize("address", ["127.0.0.1:7", "[::1]:7", "broker.example:7"])
def test_an_address_is_shown_as_it_is(address: str) -> None:
    assert reachable(address) == address


def test_every_address_of_this_machine_is_shown_as_one_that_can_be_reached() -> None:
    assert reachable("0.0.0.0:7") == f"{outward_address('0.0.0.0')}:7"
    assert "0.0.0.0" not in reachable("0.0.0.0:7")


def test_programs_are_called_by_name_where_the_shell_finds_these_very_ones() -> None:
    folder = os.path.dirname(sys.executable)
    assert programs_here(lambda name: os.path.join(folder, name)) == Programs()
    elsewhere = programs_here(lambda name: os.path.join(os.sep, "elsewhere", name))
    assert os.path.abspath(elsewhere.python) == os.path.join(folder, "python")
    assert os.path.abspath(programs_here(lambda name: None).aerobee) == f"{folder}/aerobee"


def test_tls_and_users_are_told() -> None:
    plain = "\n".join(said(FACTS))
    assert "rmqs://" not in plain
    assert "SECRET" not in plain
    guarded = said(replace(FACTS, tls=TlsMode.ENFORCING, asks=True))
    assert "  TLS          on every port: rmqs://127.0.0.1:9876?ca=FILE" in guarded
    assert "  users        sign their requests: rmq://KEY:SECRET@127.0.0.1:9876" in guarded
    assert "  metrics      https://127.0.0.1:5557/metrics" in guarded
    both = said(replace(FACTS, tls=TlsMode.PERMISSIVE))
    assert "  TLS          on every port, plain text, too: rmqs://127.0.0.1:9876?ca=FILE" in both
    assert max(map(len, guarded + both)) <= 80
