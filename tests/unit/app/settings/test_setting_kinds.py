from enum import Enum

import pytest

from aerobee.app.settings.setting_kinds import (
    ADDRESSES,
    HOST,
    NAME,
    BytesOfUnits,
    Delays,
    Only,
    Percent,
)
from aerobee.model.setting import Choice, Kind


class Mode(Enum):
    SLOW = "SLOW_MODE"
    FAST = "FAST_MODE"


DELAYS = Delays(4)
UNITS = BytesOfUnits(20, 1000)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (NAME, "broker-a", "broker-a"),
        (NAME, "n" * 127, "n" * 127),
        (HOST, "", ""),
        (HOST, "10.0.0.1", "10.0.0.1"),
        (HOST, "fe80::1%eth0", "fe80::1%eth0"),
        (ADDRESSES, "", ()),
        (ADDRESSES, "a.b:9876", ("a.b:9876",)),
        (ADDRESSES, "10.0.0.1:1;[::1]:65535", ("10.0.0.1:1", "[::1]:65535")),
        (Choice(Mode), "FAST_MODE", Mode.FAST),
        (Only("false", "why"), "false", "false"),
        (Only("", "why"), "", ""),
        (UNITS, "20", 1),
        (UNITS, "1000", 50),
        (Percent(10, 95), "75", 0.75),
        (Percent(10, 95), "29", 0.29),
        (DELAYS, "1s 90s 2m 3h", (1_000, 90_000, 120_000, 10_800_000)),
    ],
)
def test_a_text_is_read_and_written_back(kind: Kind, text: str, value: object) -> None:
    assert kind.read(text) == value
    assert kind.write(value) == text


def test_some_texts_say_the_same_in_other_words() -> None:
    assert HOST.read("[::1]") == "::1"
    assert ADDRESSES.read(" a:1 ; b:2;") == ("a:1", "b:2")
    assert Choice(Mode).read("slow_mode") is Mode.SLOW
    assert Only("ASYNC_MASTER", "why").read("async_master") == "ASYNC_MASTER"
    assert UNITS.read("21") == 2
    assert DELAYS.read("120s  1d") == (120_000, 86_400_000)
    assert DELAYS.write((120_000, 86_400_000)) == "2m 24h"


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        (NAME, "", "letters"),
        (NAME, "two words", "letters"),
        (NAME, "n" * 128, "127"),
        (HOST, "a b", "a host name"),
        (HOST, "a/b", "a host name"),
        (ADDRESSES, "a", "host:port"),
        (ADDRESSES, "a:0", "host:port"),
        (ADDRESSES, "a:65536", "host:port"),
        (ADDRESSES, "a:1,b:2", "host:port"),
        (ADDRESSES, "::1:9876", "host:port"),
        (Choice(Mode), "FAST", "SLOW_MODE or FAST_MODE"),
        (Only("false", "it is so"), "true", r"false \(it is so\)"),
        (Only("", "it is so"), "x", r"empty \(it is so\)"),
        (UNITS, "0", "1 to 1000"),
        (UNITS, "1001", "1 to 1000"),
        (UNITS, "-20", "1 to 1000"),
        (UNITS, "9" * 30, "1 to 1000"),
        (Percent(10, 95), "9", "10 to 95"),
        (Percent(10, 95), "96", "10 to 95"),
        (Percent(10, 95), "0.5", "10 to 95"),
        (DELAYS, "", "1 to 4"),
        (DELAYS, "1s 1s 1s 1s 1s", "1 to 4"),
        (DELAYS, "1s 5", "'5' is none"),
        (DELAYS, "0s", "'0s' is none"),
        (DELAYS, "1S", "'1S' is none"),
    ],
)
def test_a_text_of_another_kind_is_refused(kind: Kind, text: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        kind.read(text)
