from aerobee.model.topic import TopicConfig
from aerobee.service.broker.admin.topic.topic_cleanup import HOUR_MS
from tests.broker_kit import SYNC, BrokerKit, create_fields
from tests.wire import JAVA_FIELDS

DAY_MS = 24 * HOUR_MS


def day_old(attributes: str, *, restart: bool = False) -> list[bytes]:
    """What is seen of a message of yesterday and of one of now."""
    kit = BrokerKit(storage=SYNC)
    wanted = {**create_fields(TopicConfig("Orders", 1, 1)), "attributes": attributes}
    assert kit.ask(17, wanted).code == 0
    send = {**JAVA_FIELDS, "e": "0"}
    assert kit.ask(310, send, b"yesterday").code == 0
    if restart:
        kit.finish()
        kit = kit.power_cut()
    kit.run(DAY_MS, HOUR_MS)
    assert kit.ask(310, send, b"now").code == 0
    kit.run(5_000)
    return kit.bodies(queue_id=0)


def test_messages_of_a_topic_are_seen_for_its_own_time() -> None:
    assert day_old("") == [b"yesterday", b"now"]
    assert day_old("+reserve.time=20") == [b"now"]
    assert day_old("+reserve.time=30") == [b"yesterday", b"now"]
    assert day_old("+reserve.time=-1") == [b"yesterday", b"now"]


def test_a_start_remembers_it() -> None:
    assert day_old("", restart=True) == [b"yesterday", b"now"]
    assert day_old("+reserve.time=20", restart=True) == [b"now"]
