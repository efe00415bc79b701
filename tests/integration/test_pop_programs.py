"""The programs of RocketMQ's own tests of POP against a real process; `tests/interop` runs them
against Apache's.
"""

from collections.abc import Iterator

import pytest

from tests.pop_program import PROGRAMS, Popping, Program
from tests.server_kit import Server, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("pop")) as started:
        yield started


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_it_is_as_rocketmqs_own_tests_expect(server: Server, program: Program) -> None:
    with Popping(server.broker_port) as popping:
        program(popping)


def test_a_setting_without_an_effect_is_refused_with_the_reason(server: Server) -> None:
    with Popping(server.broker_port) as broker:
        answer = broker.ask(
            25, body=b"enableSplitRegistration=true\nenableSingleTopicRegister=true\n"
        )
    assert answer.code == 16
    assert "enableSplitRegistration has no effect here: all topics fit" in answer.remark
    assert "enableSingleTopicRegister has no effect here: a topic" in answer.remark
    port = int(server.name_server.rpartition(":")[2])
    with Popping(port) as name_server:
        answer = name_server.ask(318, body=b"deleteTopicWithBrokerRegistration=true\n")
    assert answer.code == 16
    assert "deleteTopicWithBrokerRegistration has no effect here" in answer.remark
