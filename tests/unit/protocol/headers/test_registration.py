from aerobee.protocol.headers.registration import (
    BrokerPlaceHeader,
    RegisterBrokerHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_what_apaches_broker_registers_with_is_read_and_written_back_whole() -> None:
    for command in captured("REGISTER_BROKER", "request"):
        header = read_header(RegisterBrokerHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert (header.broker_name, header.broker_id) == ("broker-a", 0)
        assert header.ha_server_addr.endswith(":50912")


def test_what_says_who_asks_is_read_and_written_back_whole() -> None:
    for name in ("UNREGISTER_BROKER", "QUERY_DATA_VERSION"):
        for command in captured(name, "request"):
            header = read_header(BrokerPlaceHeader, command.ext_fields)
            assert write_header(header) == command.ext_fields
