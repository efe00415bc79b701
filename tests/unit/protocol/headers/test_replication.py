import pytest

from aerobee.protocol.headers.replication import (
    ROLES,
    SLAVE,
    ChangedRoleHeader,
    ChangeRoleHeader,
    ExchangeHaHeader,
    KnownTermHeader,
    MemberGroupHeader,
    MinBrokerIdHeader,
    ResetFlushOffsetHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        (MemberGroupHeader("c", "b"), {"clusterName": "c", "brokerName": "b"}),
        (
            MinBrokerIdHeader(1, None, "a:1", "m:1", "a:2"),
            {
                "minBrokerId": "1",
                "minBrokerAddr": "a:1",
                "offlineBrokerAddr": "m:1",
                "haBrokerAddr": "a:2",
            },
        ),
        (
            ExchangeHaHeader("m:2", 510, "m:1"),
            {"masterHaAddress": "m:2", "masterFlushOffset": "510", "masterAddress": "m:1"},
        ),
        (ExchangeHaHeader(), {}),
        (ResetFlushOffsetHeader(-1), {"masterFlushOffset": "-1"}),
        (
            ChangeRoleHeader(SLAVE, 1, "m:1", "m:2", True, 3),
            {
                "role": "SLAVE",
                "brokerId": "1",
                "masterAddress": "m:1",
                "masterHaAddress": "m:2",
                "force": "true",
                "aboveTerm": "3",
            },
        ),
        (KnownTermHeader(7), {"term": "7"}),
        (KnownTermHeader(), {}),
        (ChangedRoleHeader("SLAVE", 510), {"role": "SLAVE", "endOffset": "510"}),
    ],
)
def test_a_header_has_rocketmqs_fields_and_is_read_back(
    header: object, fields: dict[str, str]
) -> None:
    assert write_header(header) == fields
    assert read_header(type(header), fields) == header


def test_a_change_of_role_is_not_forced_unless_it_is_said() -> None:
    header = read_header(ChangeRoleHeader, {"role": "ASYNC_MASTER", "brokerId": "0"})
    assert (header.role in ROLES, header.force, header.master_address) == (True, False, None)
