from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.delay.delay_offset_handlers import DelayOffsetHandlers
from aerobee.service.request import Request
from tests.delay_kit import DelayKit


def test_whoever_asks_is_told_how_far_each_level_was_delivered() -> None:
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit.send(b"ho", 2)
    kit.run(1_100)
    kit = kit.stopped()
    (row,) = DelayOffsetHandlers(kit.offsets).rows()
    assert row.code == 45
    answer = row.serve(Request(ChannelId(1), RemotingCommand(45), kit.clock.now(), []))
    assert answer is not None
    assert answer.code == 0
    assert answer.body.startswith(b'{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":')
    assert answer.body.endswith(b'"offsetTable":{1:1,2:0}}')
