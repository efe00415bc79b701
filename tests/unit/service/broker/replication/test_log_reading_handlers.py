"""READ_LOG: bytes of the log, also those that are not confirmed."""

from aerobee.model.topic import TopicConfig
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import BrokerKit
from tests.pair_kit import Pair
from tests.send_rig import send_frame
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)
READ_LOG = 28009


def test_a_range_is_answered_with_its_bytes_and_the_bounds_of_the_log() -> None:
    kit = BrokerKit(TOPIC)
    kit.send_frames(send_frame())
    kit.heard()
    end = kit.store.end_offset
    answer = kit.ask(READ_LOG, {"offset": "4", "size": "100"})
    assert bytes(answer.body) == bytes(kit.store.log_slices(4, 100))
    assert answer.ext_fields == {"minOffset": "0", "maxOffset": str(end), "term": "0"}
    beyond = kit.ask(READ_LOG, {"offset": str(end - 1), "size": "100"})
    assert len(beyond.body) == 1
    assert kit.ask(READ_LOG, {"offset": str(end), "size": "1"}).code == 0


def test_bytes_that_no_slave_has_yet_are_there() -> None:
    pair = Pair(TOPIC, in_sync=2)
    pair.run(200)
    pair.is_cut = True
    pair.send()
    assert len(pair.master.ask(READ_LOG, {"offset": "0", "size": "91"}).body) == 91


def test_a_range_that_cannot_be_is_refused_with_what_there_is() -> None:
    kit = BrokerKit(TOPIC)
    for size in ("0", "-1", str(9 << 20)):
        answer = kit.ask(READ_LOG, {"offset": "0", "size": size})
        assert answer.code == ResponseCode.INVALID_PARAMETER
    answer = kit.ask(READ_LOG, {"offset": "77", "size": "1"})
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "ends at 0" in answer.remark
