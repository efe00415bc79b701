"""NOTIFY_MIN_BROKER_ID_CHANGE (905): one-way messages to the brokers of one name, that the smallest
id among them has changed.

    the smallest left      to all that remain, with the address of the one that left
    a smaller one came     to all but that one, with the address where it serves its log

The broker with the smallest id acts as master while there is none. Brokers also ask every second,
so a message that is lost is not sent again.
"""

from aerobee.ports.service import Dial, Effects
from aerobee.protocol.headers.replication import MinBrokerIdHeader
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.nameserver.route_table import MinIdChange

TIMEOUT_MS = 300


def min_id_notices(change: MinIdChange) -> Effects:
    smallest = min(change.addresses)
    header = MinBrokerIdHeader(
        min_broker_id=smallest,
        min_broker_addr=change.addresses[smallest],
        offline_broker_addr=change.offline_address or None,
        ha_broker_addr=change.ha_address or None,
    )
    return [
        Dial(
            address,
            RemotingCommand(
                RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
                flag=ONEWAY_FLAG,
                ext_fields=write_header(header),
            ),
            TIMEOUT_MS,
            None,
        )
        for number, address in sorted(change.addresses.items())
        if change.offline_address or number != smallest
    ]
