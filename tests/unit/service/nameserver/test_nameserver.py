import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, CloseChannel, Dial
from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.nameserver.config import NameServerConfig
from tests.nameserver_kit import BROKER, NameServerKit

TOPICS = (TopicConfig("TBW102", 8, 8, 7), TopicConfig("Orders", 4, 4))
SERVED = [code for code in RequestCode if "N" in code.serves]


@pytest.mark.parametrize("code", SERVED, ids=lambda code: code.name)
def test_every_request_of_a_name_server_is_served(code: RequestCode) -> None:
    assert NameServerKit().ask(code).code != 3


@pytest.mark.parametrize("code", [10, 34, 999, -1, 2**31 - 1])
def test_any_other_request_is_answered_3(code: int) -> None:
    answer = NameServerKit().ask(code)
    assert answer.code == 3
    assert "name server does not serve" in answer.remark


@pytest.mark.parametrize("code", [*SERVED, 999])
def test_a_one_way_request_is_never_answered(code: int) -> None:
    NameServerKit().tell(code)
    NameServerKit().tell(code, {"namespace": "n", "key": "k", "value": "v", "topic": "t"})


@pytest.mark.parametrize(("code", "expected"), [(105, 29), (101, 29), (999, 3)])
def test_a_request_whose_header_is_too_large_is_refused(code: int, expected: int) -> None:
    command = RemotingCommand(code, ext_fields={"namespace": "n", "key": "k", "topic": "TBW102"})
    command.excess = "more than 128 fields"
    (answer,) = NameServerKit().send(command)
    assert answer.code == expected
    assert ("more than 128 fields" in answer.remark) == (expected == 29)


def test_a_response_that_nobody_asked_for_is_dropped() -> None:
    assert NameServerKit().send(RemotingCommand(105, flag=RESPONSE_FLAG)) == []


def test_brokers_are_looked_for_as_often_as_configured() -> None:
    kit = NameServerKit(NameServerConfig(scan_interval_ms=7_000))
    kit.register(*TOPICS, fields={"heartbeatTimeoutMillis": "1"})
    kit.pass_time(6_000)
    assert kit.ask(105, {"topic": "Orders"}).code == 0
    kit.pass_time(1_000)
    assert kit.ask(105, {"topic": "Orders"}).code == 17


def test_it_has_nothing_to_do_until_brokers_are_looked_for_again() -> None:
    kit = NameServerKit(NameServerConfig(scan_interval_ms=7_000))
    kit.pass_time(3_000)
    assert kit.service.rest_ms(kit.clock.now()) == 4_000
    kit.pass_time(4_000)
    assert kit.service.rest_ms(kit.clock.now()) == 7_000


def test_a_silent_brokers_connection_is_closed_with_the_reason() -> None:
    kit = NameServerKit()
    kit.register(*TOPICS, fields={"heartbeatTimeoutMillis": "1"})
    effects = kit.service.on_tick(kit.clock.advance(5_000))
    assert effects == [CloseChannel(BROKER, "the broker on it fell silent")]
    assert kit.service.on_tick(kit.clock.advance(5_000)) == []


def test_a_connection_that_closes_takes_its_broker_out_at_once() -> None:
    kit = NameServerKit()
    kit.register(*TOPICS)
    assert kit.service.on_closed(ChannelId(99), kit.clock.now()) == []
    assert kit.ask(105, {"topic": "Orders"}).code == 0
    assert kit.service.on_closed(BROKER, kit.clock.now()) == []
    assert kit.ask(105, {"topic": "Orders"}).code == 17


ACTING = {"enableActingMaster": "true"}


def test_brokers_are_told_of_a_new_smallest_id_only_where_that_is_on() -> None:
    for is_on in (True, False):
        kit = NameServerKit(NameServerConfig(notifies_min_ids=is_on))
        kit.register(*TOPICS, fields=ACTING)
        slave = ("10.0.0.2:10911", "10.0.0.3:10911")
        for number, address in enumerate(slave, start=1):
            kit.register(
                *TOPICS,
                broker_id=number,
                address=address,
                channel=ChannelId(10 + number),
                fields=ACTING,
            )
        told = kit.service.on_closed(BROKER, kit.clock.now())
        assert [one.address for one in told if isinstance(one, Dial)] == (
            list(slave) if is_on else []
        )
        assert kit.service.on_tick(kit.clock.now()) == []


def test_a_master_that_comes_back_is_announced_with_its_registration() -> None:
    kit = NameServerKit(NameServerConfig(notifies_min_ids=True))
    kit.register(*TOPICS, broker_id=1, address="10.0.0.2:10911", fields=ACTING)
    kit.register(*TOPICS, channel=ChannelId(10), fields=ACTING)
    (told,) = kit.dialed
    assert (told.address, told.command.code, told.command.is_oneway) == (
        "10.0.0.2:10911",
        905,
        True,
    )
    assert told.command.ext_fields == {
        "minBrokerId": "0",
        "minBrokerAddr": "10.0.0.1:10911",
        "haBrokerAddr": "10.0.0.1:10912",
    }


def test_an_answer_that_waits_for_the_disk_comes_with_a_tick() -> None:
    kit = NameServerKit()
    fields = {"namespace": "n", "key": "k", "value": "v"}
    command = RemotingCommand(100, ext_fields=fields)
    assert kit.service.on_command(BROKER, command, kit.clock.now()) == []
    assert kit.service.on_tick(kit.clock.now()) == []
    kit.worker.run_all()
    assert len(kit.service.on_tick(kit.clock.now())) == 1
    assert kit.service.on_tick(kit.clock.now()) == []


def test_key_values_survive_a_restart() -> None:
    kit = NameServerKit()
    kit.ask(100, {"namespace": "n", "key": "k", "value": "v"})
    again = NameServerKit(disk=kit.disk.power_cut())
    assert again.ask(101, {"namespace": "n", "key": "k"}).ext_fields == {"value": "v"}
