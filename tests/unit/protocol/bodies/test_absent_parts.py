import json

from aerobee.protocol.bodies.absent_parts import encode_no_cold_limits, encode_no_light_topics
from tests.captured import captured


def test_no_limits_are_what_apache_shows_without_its_thresholds() -> None:
    (recorded, *_) = captured("GET_COLD_DATA_FLOW_CTR_INFO", "response")
    apaches = json.loads(bytes(recorded.body))
    ours = json.loads(encode_no_cold_limits())
    assert ours == {name: apaches[name] for name in ours}


def test_light_topics_have_apaches_members() -> None:
    (recorded, *_) = captured("GET_BROKER_LITE_INFO", "response")
    apaches = json.loads(bytes(recorded.body))
    ours = json.loads(encode_no_light_topics(9, 2))
    assert list(ours) == list(apaches)
    assert (ours["cqTableSize"], ours["offsetTableSize"]) == (9, 2)
    assert (ours["groupMeta"], ours["topicMeta"], ours["currentLmqNum"]) == ({}, {}, 0)
