from aerobee.ports.service import Dial
from aerobee.protocol.headers.replication import MinBrokerIdHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.service.nameserver.min_id_notices import TIMEOUT_MS, min_id_notices
from aerobee.service.nameserver.route_table import MinIdChange


def notices(change: MinIdChange) -> dict[str, MinBrokerIdHeader]:
    """What is told, by address."""
    found = {}
    for effect in min_id_notices(change):
        assert isinstance(effect, Dial)
        assert (effect.command.code, effect.command.is_oneway) == (905, True)
        assert effect.timeout_ms == TIMEOUT_MS
        found[effect.address] = read_header(MinBrokerIdHeader, effect.command.ext_fields)
    return found


def test_all_that_remain_are_told_who_left() -> None:
    change = MinIdChange({2: "h:2", 1: "h:1"}, offline_address="h:0")
    header = MinBrokerIdHeader(1, None, "h:1", "h:0", None)
    assert notices(change) == {"h:1": header, "h:2": header}


def test_all_but_the_one_that_came_are_told_where_it_serves_its_log() -> None:
    change = MinIdChange({0: "h:0", 1: "h:1"}, ha_address="h:9")
    assert notices(change) == {"h:1": MinBrokerIdHeader(0, None, "h:0", None, "h:9")}
    assert notices(MinIdChange({0: "h:0"}, ha_address="h:9")) == {}
