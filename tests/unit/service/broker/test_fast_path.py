"""NoFastPath: takes nothing."""

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.fast_path import NONE, NoFastPath
from tests.send_rig import send_frame


def test_it_leaves_every_frame_to_the_general_path() -> None:
    frames, output = FrameReader(FrameLimits()), ReplyBuffer()
    frames.receive(send_frame())
    assert frames.advance()
    path = NoFastPath()
    path.recheck()
    assert path.take(ChannelId(1), frames, output, Now(0, 0)) == NONE
    assert output.position == 0
