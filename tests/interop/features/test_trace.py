"""The trace of a message is recorded in a topic, by the clients that sent and consumed it."""

import pytest

from aerobee.model.message import StoredMessage
from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program
from tests.interop.features.waiting import until

TRACES = "RMQ_SYS_TRACE_TOPIC"
_FIELD, _RECORD = "\x01", "\x02"


def kinds(stored: list[StoredMessage], message_id: str) -> set[str]:
    """Of the records that name the message, and can be found by its id."""
    found = set()
    for message in stored:
        for record in message.body.decode().split(_RECORD):
            fields = record.split(_FIELD)
            if message_id in fields and message_id in message.keys:
                found.add(fields[0])
    return found


@pytest.mark.feature("trace")
def test_sending_and_consuming_leave_records(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic, traced=1)
    (told,) = client.send("traced", names.topic, "traced", group=f"producer-{names.topic}")
    client.receive(names.one, lambda events: len(events) == 1)
    ground.wait_for_route(TRACES)

    def is_whole() -> bool:
        found = kinds(ground.stored(TRACES, queues=1), told["msgId"])
        return found == {"Pub", "SubBefore", "SubAfter"}

    until(is_whole, 30, f"not all of its way is in {TRACES}")
