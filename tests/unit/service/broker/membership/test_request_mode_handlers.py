import json

from tests.pop_kit import PopKit


def set_mode(kit: PopKit, **other: object) -> int:
    said = {"topic": "Orders", "consumerGroup": "g", "mode": "POP", "popShareQueueNum": 0, **other}
    return kit.ask(401, body=json.dumps(said).encode()).code


def test_a_mode_is_kept_and_shown() -> None:
    kit = PopKit()
    assert set_mode(kit) == 0
    kit = kit.after_power_cut()
    assert json.loads(bytes(kit.ask(402).body)) == {
        "messageRequestModeMap": {
            "Orders": {
                "g": {
                    "consumerGroup": "g",
                    "mode": "POP",
                    "popShareQueueNum": 0,
                    "topic": "Orders",
                }
            }
        }
    }


def test_what_cannot_have_a_mode_is_refused() -> None:
    kit = PopKit()
    assert set_mode(kit, topic="%RETRY%g") == 16
    assert set_mode(kit, topic="None") == 17
    assert set_mode(kit, consumerGroup="no/group") == 26
    assert set_mode(kit, mode="PUSH") == 1
