"""The header of a pop answer with messages, written as JSON; the messages go behind it.

    {"code":0,"extFields":{"invisibleTime":"N","msgOffsetInfo":"…","popTime":"N","restNum":"N",
     "reviveQid":"N","startOffsetInfo":"…"},"flag":1,"language":"JAVA","opaque":N,
     "remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":513}

It is for the fast path; the general codec would write a header of the same meaning.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.protocol.consume.pop_receipt import PoppedRun, offsets_text, start_offsets_text
from aerobee.protocol.remoting.command_header import JSON_TYPE, RESPONSE_FLAG
from aerobee.protocol.remoting.frame import frame_start
from aerobee.protocol.remoting.remoting_command import LANGUAGE, VERSION

_TAIL = f'"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":{VERSION}}}'


class PopAnswer(NamedTuple):
    """The fields of an answer about the messages that it brings."""

    pop_time: int
    invisible_ms: int
    revive_queue: int
    rest: int
    runs: Sequence[PoppedRun]

    def head(self, opaque: int, body_size: int) -> bytes:
        """All bytes before a body of so many bytes. No text in it needs an escape."""
        text = (
            f'{{"code":0,"extFields":{{"invisibleTime":"{self.invisible_ms}",'
            f'"msgOffsetInfo":"{offsets_text(self.runs)}","popTime":"{self.pop_time}",'
            f'"restNum":"{self.rest}","reviveQid":"{self.revive_queue}",'
            f'"startOffsetInfo":"{start_offsets_text(self.runs)}"}},"flag":{RESPONSE_FLAG},'
            f'"language":"{LANGUAGE}","opaque":{opaque},{_TAIL}'
        )
        return frame_start(text.encode(), body_size, JSON_TYPE)
