"""More connections than anybody needs: silent ones, stalled ones, ones that promise much."""

import struct

import pytest

from tests.hostile.raw import crowd
from tests.hostile.server import MIB, Server, undisturbed
from tests.wire_client import WireClient

HALF_A_FRAME = struct.pack(">iI", 200, 100) + b'{"code":'
LARGE = 8 * MIB
STARTED = struct.pack(">iI", LARGE - 4, 100) + bytes(70_000)
"""Of the largest frame that is taken, a little more than what it takes to be believed."""


@pytest.fixture(params=["broker", "nameserver"])
def port(request: pytest.FixtureRequest, server: Server) -> int:
    return server.broker if request.param == "broker" else server.nameserver


def assert_served(port: int) -> None:
    with WireClient(port) as late:
        assert late.ask(28 if late.ask(105).code == 3 else 106).code == 0


@pytest.mark.parametrize("first_words", [b"", HALF_A_FRAME], ids=["idle", "stalled"])
def test_a_thousand_that_say_nothing_more_hinder_nobody(
    server: Server, port: int, first_words: bytes
) -> None:
    with undisturbed(server, grown_bytes_max=24 * MIB, peak_bytes_max=64 * MIB):
        with crowd(port, 1000, first_words) as sockets:
            assert_served(port)
            assert len(sockets) == 1000
        assert_served(port)


def test_a_frame_is_given_no_more_room_than_it_has_shown_that_it_needs(
    server: Server, port: int
) -> None:
    """1,000 frames of 8 MiB are begun: what was really sent is a hundredth of what they claim. Of
    what is given back the process may keep as much as one crowd needs."""
    with undisturbed(server, grown_bytes_max=400 * MIB, peak_bytes_max=400 * MIB):
        for _ in range(3):
            with crowd(port, 1000, STARTED):
                assert_served(port)
