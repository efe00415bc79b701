import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.bodies.staged_places import decode_places, encode_places


def test_places_come_back_in_their_order() -> None:
    assert encode_places([81505, 0, 7]) == b'{"places":[81505,0,7]}'
    assert decode_places(encode_places([81505, 0, 7])) == [81505, 0, 7]
    assert decode_places(b"{}") == []


@pytest.mark.parametrize("body", [b'{"places":[1.5]}', b'{"places":[-1]}', b'{"places":[true]}'])
def test_what_is_no_place_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decode_places(body)
