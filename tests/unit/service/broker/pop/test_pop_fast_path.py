from aerobee.model.topic import CLEANUP_POLICY, COMPACTION, TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.broker_kit import OTHER, create_fields
from tests.fast_pop_rig import ShortPopRig
from tests.pop_kit import got_in


def frame(code: int, opaque: int, fields: dict[str, str]) -> bytes:
    return b"".join(encode(RemotingCommand(code, opaque=opaque, ext_fields=fields)))


def test_a_read_may_have_pops_and_acknowledgements_in_any_order() -> None:
    rig = ShortPopRig()
    kit = rig.kit
    got = kit.pop(maxMsgNums=4)
    assert kit.ack(got[0]) == 0
    queue = kit.store.queue(b"rmq_sys_wheel_timer", 0)
    assert queue is not None
    before = queue.next_offset
    kit.send_frames(
        frame(200051, 1, kit.ack_fields(got[1]))
        + frame(200050, 2, kit.fields(maxMsgNums=4))
        + frame(200051, 3, kit.ack_fields(got[2]))
        + frame(200050, 4, kit.fields(maxMsgNums=4))
        + frame(200051, 5, kit.ack_fields(got[3]))
    )
    (piece,) = kit.pieces()
    assert rig.plain.answered == 2
    assert queue.next_offset == before + 3  # two checkpoints, and one record of acknowledgements
    assert sum(piece.count(b'"opaque":%d,' % opaque) for opaque in range(1, 6)) == 5


def test_what_is_of_another_kind_is_left_where_it_is() -> None:
    rig = ShortPopRig()
    kit = rig.kit
    got = kit.pop(maxMsgNums=4)
    assert kit.ack(got[0]) == 0
    kit.send_frames(
        frame(200051, 1, kit.ack_fields(got[1]))
        + frame(28, 2, {})
        + frame(200050, 3, kit.fields(maxMsgNums=4))
    )
    answers = {answer.opaque: answer for answer in kit.heard()}
    assert sorted(answers) == [1, 2, 3]
    assert [one.message.queue_offset for one in got_in(answers[3])] == [4, 5, 6, 7]


def test_pops_of_a_topic_that_is_compacted_are_never_learned_from() -> None:
    rig = ShortPopRig(count=0)
    topic = TopicConfig("Kept", 1, 1, attributes={CLEANUP_POLICY: COMPACTION})
    assert rig.kit.ask(17, create_fields(topic), channel=OTHER).code == 0
    rig.kit.fill(12, topic="Kept", KEYS="k")
    for _ in range(3):
        is_short, answer = rig.ask(topic="Kept")
        assert (is_short, answer.code) == (False, 0)
