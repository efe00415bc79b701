"""Any change of a proof on an HA or Raft link makes it pass nothing; a right one passes what
follows it, once, in whatever chunks it comes.

The first byte chooses the chunks, the next three the byte that is changed and how; the rest is what
follows the proof.
"""

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import Credentials
from aerobee.ports.clock import Now
from aerobee.ports.service import LinkId
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.link_proof import LinkGuard, link_proof

INNER = Credentials("inner", "a secret that is not in any corpus")
ACCOUNTS = Accounts(seeded(AccessTable(), AccessConfig(True, True, inner=INNER, key=b"k" * 32)))
NOW = Now(1_700_000_000_000, 0)


def check(data: bytes) -> None:
    """A changed proof passes nothing, a right one what follows it, once."""
    if len(data) < 5:
        return
    chunk, place, change, rest = 1 + data[0], data[1] << 8 | data[2], data[3], data[4:]
    proof = link_proof(INNER, "broker-a", NOW.wall_ms, rest[:20].decode("latin-1"))
    guard = LinkGuard(ACCOUNTS, "broker-a", INNER)
    if change:
        wrong = bytearray(proof)
        wrong[place % len(proof)] ^= change
        assert _passed(guard, LinkId(1), bytes(wrong) + rest, chunk) is None
    assert _passed(guard, LinkId(2), proof + rest, chunk) == rest
    assert _passed(guard, LinkId(3), proof + rest, chunk) is None
    assert _passed(LinkGuard(ACCOUNTS, "broker-b", INNER), LinkId(1), proof, chunk) is None
    _passed(guard, LinkId(4), rest, chunk)


def _passed(guard: LinkGuard, link: LinkId, said: bytes, chunk: int) -> bytes | None:
    """What comes through of the bytes of a link; None: it is refused, or has proved nothing yet."""
    guard.opened(link, "10.0.0.9")
    passed = b""
    try:
        for start in range(0, len(said), chunk):
            passed += bytes(guard.passed(link, said[start : start + chunk], NOW))
    except RemoteProtocolError:
        assert passed == b""
        return None
    finally:
        is_proved = link not in guard._heads
        guard.closed(link)
    return passed if is_proved else None
