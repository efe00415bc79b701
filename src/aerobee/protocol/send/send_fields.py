"""The ext fields of a send whose header was decoded, by letter, checked one by one.

SEND_MESSAGE and SEND_REPLY_MESSAGE bear long names, the others one letter each (`send_field_names`
lists both). A field that is missing or is not what it should be is a RemoteProtocolError that names
it as the peer wrote it: the frame itself was good, so a server may well answer instead of closing.
"""

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.message.message_draft import PROPERTIES_BYTES_MAX
from aerobee.protocol.message.producer_mark import KNOWN, QUIET
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.send.send_field_names import LETTERS

SEND_MESSAGE = int(RequestCode.SEND_MESSAGE)
SEND_BATCH_MESSAGE = int(RequestCode.SEND_BATCH_MESSAGE)
SEND_ONCE = int(RequestCode.SEND_ONCE)
SEND_CODES = (SEND_MESSAGE, int(RequestCode.SEND_MESSAGE_V2), SEND_BATCH_MESSAGE)

_LONG_CODES = (SEND_MESSAGE, int(RequestCode.SEND_REPLY_MESSAGE))
_LONG_NAMES = {chr(letter): name.decode() for name, letter in LETTERS.items()}


class SendFields:
    """Reads the fields of one header."""

    __slots__ = ("_fields", "_is_long")

    def __init__(self, header: CommandHeader) -> None:
        self._fields = header.ext_fields
        self._is_long = header.code in _LONG_CODES

    def name(self, letter: str) -> str:
        return _LONG_NAMES[letter] if self._is_long else letter

    def text(self, letter: str) -> bytes:
        """Text that must be there and not be empty."""
        text = self._fields.get(self.name(letter))
        if not text:
            raise RemoteProtocolError(f"a send without its field {self.name(letter)}")
        return text.encode()

    def optional_text(self, letter: str) -> str:
        return self._fields.get(self.name(letter), "")

    def int32(self, letter: str) -> int:
        return self._integer(letter, 32)

    def int64(self, letter: str) -> int:
        return self._integer(letter, 64)

    def optional_int32(self, letter: str, absent: int) -> int:
        """`absent` also for empty text, which is how Go writes what is not set."""
        return self.int32(letter) if self._fields.get(self.name(letter)) else absent

    def is_true(self, letter: str) -> bool:
        """Java says true; C++ up to 2.2.0 says 1."""
        text = self._fields.get(self.name(letter), "")
        return text == "1" or text.lower() == "true"

    def is_known(self) -> bool:
        """Of SEND_ONCE: whether one like it was acknowledged before."""
        return self._fields.get(KNOWN, "") == "true"

    def is_quiet(self) -> bool:
        """Of SEND_ONCE: whether nobody wants to hear of places."""
        return self._fields.get(QUIET, "") == "true"

    def properties(self) -> bytes:
        text = self._fields.get(self.name("i"), "").encode()
        if len(text) > PROPERTIES_BYTES_MAX:
            raise RemoteProtocolError(
                f"{len(text)} bytes of properties; at most {PROPERTIES_BYTES_MAX} fit"
            )
        return text

    def _integer(self, letter: str, bits: int) -> int:
        text = self._fields.get(self.name(letter))
        if text is None:
            raise RemoteProtocolError(f"a send without its field {self.name(letter)}")
        digits = text.removeprefix("-")
        # int() alone would take "1_0", " 7" and the digits of every script.
        if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
            raise RemoteProtocolError(
                f"the field {self.name(letter)} of a send is no number: {text[:64]!r}"
            )
        value = int(text)
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise RemoteProtocolError(
                f"the field {self.name(letter)} of a send does not fit {bits} bits: {text}"
            )
        return value
