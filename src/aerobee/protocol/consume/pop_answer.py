"""The head of the answer to a pop that found messages; the messages go behind it.

    {"code":0,"extFields":{"invisibleTime":"N","msgOffsetInfo":"…","popTime":"N","restNum":"N",
     "reviveQid":"N","startOffsetInfo":"…"},"flag":1,"language":"JAVA","opaque":N,
     "remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":513}

By hand and in JSON only, for the short way; what the general codec would write means the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.protocol.consume.pop_receipt import PoppedRun, offsets_text, start_offsets_text
from aerobee.protocol.remoting.command_header import JSON_TYPE, RESPONSE_FLAG
from aerobee.protocol.remoting.frame import frame_start
from aerobee.protocol.remoting.remoting_command import LANGUAGE, VERSION

_TAIL = f'"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":{VERSION}}}'


class PopAnswer(NamedTuple):
    """What an answer says of the messages that it brings."""

    pop_time: int
    invisible_ms: int
    revive_queue: int
    rest: int
    runs: Sequence[PoppedRun]

    def head(self, opaque: int, body_size: int) -> bytes:
        """Everything before a body of so many bytes. No text of it needs an escape."""
        text = (
            f'{{"code":0,"extFields":{{"invisibleTime":"{self.invisible_ms}",'
            f'"msgOffsetInfo":"{offsets_text(self.runs)}","popTime":"{self.pop_time}",'
            f'"restNum":"{self.rest}","reviveQid":"{self.revive_queue}",'
            f'"startOffsetInfo":"{start_offsets_text(self.runs)}"}},"flag":{RESPONSE_FLAG},'
            f'"language":"{LANGUAGE}","opaque":{opaque},{_TAIL}'
        )
        return frame_start(text.encode(), body_size, JSON_TYPE)
