"""Refusals by role and stage."""

import pytest

from aerobee.model.broker_role import BrokerRole, Stage
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.slave_requests import rows_by_stage, slave_rows
from aerobee.service.broker.request_table import Lane, row
from aerobee.service.request import OK, Answer, Request

MASTER = BrokerIdentity()
RETURNING = BrokerIdentity(stage=Stage.RETURNING)
_AS_SLAVE = ReplicationConfig(role=BrokerRole.SLAVE)
SLAVE = BrokerIdentity(broker_id=1, replication=_AS_SLAVE)
ACTING = BrokerIdentity(broker_id=1, replication=_AS_SLAVE, stage=Stage.ACTING)
ALL = (MASTER, RETURNING, SLAVE, ACTING)


def served(code: RequestCode, master: str) -> Answer | None:
    rows = slave_rows(
        [row(code, NoHeader, lambda request, header: OK, Lane.SEND)],
        lambda: master,
    )
    request = Request(ChannelId(1), RemotingCommand(code), Now(0, 0), [])
    return rows[0].serve(request)


def test_a_send_is_refused_with_a_code_that_every_client_tries_elsewhere() -> None:
    answer = served(RequestCode.SEND_MESSAGE_V2, "10.0.0.7:10911")
    assert answer is not None
    assert answer.code is ResponseCode.SERVICE_NOT_AVAILABLE
    assert "10.0.0.7:10911" in answer.remark


def test_a_refusal_without_a_known_master_says_so() -> None:
    answer = served(RequestCode.UPDATE_AND_CREATE_TOPIC, "")
    assert answer is not None
    assert "not known" in answer.remark


def test_pulls_and_offsets_are_served() -> None:
    assert served(RequestCode.PULL_MESSAGE, "m") is OK
    assert served(RequestCode.UPDATE_CONSUMER_OFFSET, "m") is OK


def refusal(code: RequestCode, identity: BrokerIdentity) -> str:
    """The remark of a refusal; empty: it is served."""
    one = row(code, NoHeader, lambda request, header: OK, Lane.SEND)
    (found,) = rows_by_stage(identity, [one], lambda: "10.0.0.7:10911")
    answer = found.serve(Request(ChannelId(1), RemotingCommand(code), Now(0, 0), []))
    assert answer is not None
    assert answer is OK or answer.code is ResponseCode.SERVICE_NOT_AVAILABLE
    return answer.remark


@pytest.mark.parametrize(
    ("number", "served_by"),
    [
        # Sends, messages handed back, pops and their acknowledgements, changes of tables.
        *[(number, (MASTER,)) for number in (10, 310, 320, 324, 325, 36, 323, 370)],
        *[(number, (MASTER,)) for number in (200050, 200052, 200151, 200051, 200053)],
        *[(number, (MASTER,)) for number in (17, 215, 200, 207, 401)],
        # Pulls.
        *[(number, (MASTER, SLAVE, ACTING)) for number in (11, 361)],
        # Tables that slaves copy.
        *[(number, (MASTER, SLAVE, ACTING)) for number in (21, 43, 45, 60, 61, 201)],
        # Resets of offsets, and those of one group for another.
        *[(number, (MASTER, ACTING)) for number in (222, 314)],
        # Locks of queues, offsets, ends of transactions, heartbeats.
        *[(number, ALL) for number in (41, 42, 14, 15, 37, 34)],
    ],
)
def test_each_stage_serves_what_it_may(number: int, served_by: tuple[BrokerIdentity, ...]) -> None:
    code = next(one for one in RequestCode if one == number)
    assert [one for one in ALL if not refusal(code, one)] == list(served_by), code


def test_a_master_that_returns_does_not_call_itself_a_slave() -> None:
    assert "just started" in refusal(RequestCode.SEND_MESSAGE_V2, RETURNING)
    assert "is a slave" in refusal(RequestCode.SEND_MESSAGE_V2, ACTING)
