"""The body of PUBLISH_STAGED: the log offsets of a round's staged batches, in JSON.

    {"places":[81505,90210]}

In the order in which they are to be stored.
"""

from collections.abc import Sequence

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

_MEMBER = "places"


def encode_places(places: Sequence[int]) -> bytes:
    return write_compact({_MEMBER: list(places)})


def decode_places(body: bytes) -> list[int]:
    found = []
    for place in Members(parse(body), "staged batches").array(_MEMBER):
        if type(place) is not int or place < 0:
            raise RemoteProtocolError(f"a staged batch at {place!r:.100}")
        found.append(place)
    return found
