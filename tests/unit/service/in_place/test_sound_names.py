from aerobee.model.topic import TopicConfig
from aerobee.service.in_place.sound_names import sound_group, sound_topic, takes_normal
from tests.grpc_kit import typed


def test_a_name_is_sound_or_there_is_none() -> None:
    assert sound_topic(b"orders") == "orders"
    assert sound_topic(b"bad name") is None
    assert sound_topic(b"TBW102") is None
    assert sound_group(b"readers") == "readers"
    assert sound_group(b"bad name") is None


def test_topics_of_another_type_take_no_normal_messages() -> None:
    assert takes_normal(TopicConfig("orders"))
    assert takes_normal(typed("typed", "NORMAL"))
    assert not takes_normal(typed("fifo", "FIFO"))
