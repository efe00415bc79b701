from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.deduplication.known_producers import QUEUES_MAX
from tests.broker_kit import SYNC, BrokerKit
from tests.once_kit import FENCED, ORDERS, QUEUE, TOO_MANY, batch_body

STAGE_BATCH, PUBLISH_STAGED = 28004, 28005
FIRST = 9 << 32


def stage(kit: BrokerKit, first: int, bodies: list[bytes], **fields: object) -> int:
    said = {"writeId": "W", "roundId": "9", "topic": "Orders", "queueId": str(QUEUE)}
    said |= {name: str(value) for name, value in fields.items()}
    body = batch_body(first, bodies, epoch=int(said["roundId"]) << 20, queue=int(said["queueId"]))
    answer = kit.ask(STAGE_BATCH, said, body)
    assert answer.code == 0, answer.remark
    return int(answer.ext_fields["place"])


def publish(kit: BrokerKit, *places: int, round_id: int = 9) -> RemotingCommand:
    fields = {"writeId": "W", "roundId": str(round_id)}
    kit.tell(PUBLISH_STAGED, fields, encode_places(places))
    while True:
        kit.finish()
        answers = kit.heard()
        if answers:
            return answers[0]
        kit.tick(1)


def test_what_is_staged_is_seen_once_its_round_is_published() -> None:
    kit = BrokerKit(ORDERS)
    first = stage(kit, FIRST, [b"a", b"b"])
    other = stage(kit, FIRST, [b"x"], queueId=2)
    second = stage(kit, FIRST + 2, [b"c"])
    stage(kit, FIRST, [b"never listed"])
    assert kit.bodies(queue_id=QUEUE) == []
    answer = publish(kit, first, second, other)
    assert (answer.code, "duplicate" in answer.ext_fields) == (0, False)
    assert kit.bodies(queue_id=QUEUE) == [b"a", b"b", b"c"]
    assert kit.bodies(queue_id=2) == [b"x"]


def test_of_two_decisions_on_one_round_the_first_counts() -> None:
    kit = BrokerKit(ORDERS)
    first = stage(kit, FIRST, [b"first"])
    other = stage(kit, FIRST, [b"second"], queueId=2)
    publish(kit, first)
    for _ in range(2):
        assert publish(kit, other).ext_fields["duplicate"] == "true"
    assert (kit.bodies(queue_id=QUEUE), kit.bodies(queue_id=2)) == ([b"first"], [])
    assert publish(kit, first, round_id=8).code == FENCED
    kit = kit.power_cut()
    assert publish(kit, other).ext_fields["duplicate"] == "true"
    assert kit.bodies(queue_id=QUEUE) == [b"first"]


def test_a_round_without_rows_is_published_too() -> None:
    kit = BrokerKit(ORDERS)
    assert publish(kit).code == 0
    assert publish(kit).ext_fields["duplicate"] == "true"


def test_places_that_hold_no_batch_of_the_round_are_refused_before_anything_is_decided() -> None:
    kit = BrokerKit(ORDERS)
    place = stage(kit, FIRST, [b"a"])
    old = stage(kit, 8 << 32, [b"old"], roundId=8)
    for places in ((place, 1), (place, old), (place, 10**9)):
        assert publish(kit, *places).code == 29
    assert kit.bodies(queue_id=QUEUE) == []
    assert publish(kit, place).code == 0
    assert kit.bodies(queue_id=QUEUE) == [b"a"]


def test_at_every_step_of_publishing_a_crash_leaves_all_of_it_or_nothing() -> None:
    """And whoever asks again afterwards gets all of it, once."""
    kit = BrokerKit(ORDERS, storage=SYNC)
    places = [stage(kit, FIRST + 2 * number, [b"%d" % number, b"x"]) for number in range(3)]
    places.append(stage(kit, FIRST, [b"elsewhere"], queueId=2))
    expected = [b"0", b"x", b"1", b"x", b"2", b"x"]
    kit.tell(PUBLISH_STAGED, {"writeId": "W", "roundId": "9"}, encode_places(places))
    moments = seen = 0
    while not kit.heard():
        for survivor in (kit.disk.kill(), *kit.disk.crash_states(1, moments, 0.2)):
            again = BrokerKit(disk=survivor, storage=SYNC)
            found = again.bodies(queue_id=QUEUE)
            assert found in ([], expected), f"moment {moments}"
            seen += found == expected
            assert publish(again, *places).code == 0
            assert again.bodies(queue_id=QUEUE) == expected
            assert again.bodies(queue_id=2) == [b"elsewhere"]
        if not kit.worker.run_next():
            kit.tick(1)
        else:
            kit.tick()
        moments += 1
    assert moments > 3
    assert seen > 0


def test_a_round_that_is_done_needs_no_marks() -> None:
    kit = BrokerKit(ORDERS)
    place = stage(kit, FIRST, [b"a"])
    assert publish(kit, place).code == 0
    kit.run(6000)
    sequences = "store/config/producerSequences.json"
    assert b'"producers":[]' in kit.disk.read(sequences)
    for again in (kit, kit.killed(), kit.power_cut()):
        assert publish(again, place).ext_fields["duplicate"] == "true"
        assert again.bodies(queue_id=QUEUE) == [b"a"]
        later = stage(again, 10 << 32, [b"b"], roundId=10)
        assert publish(again, later, round_id=10).code == 0
        assert again.bodies(queue_id=QUEUE) == [b"a", b"b"]


def test_marks_stay_while_a_round_is_not_known_to_be_done() -> None:
    kit = BrokerKit(ORDERS)
    place = stage(kit, FIRST, [b"a"])
    kit.tell(PUBLISH_STAGED, {"writeId": "W", "roundId": "9"}, encode_places([place]))
    while kit.bodies(queue_id=QUEUE) != [b"a"]:
        kit.tick(1)
        kit.worker.run_next()
    kit.disk.faults.fail_sync("*stagedRounds*")
    kit.run(6000)
    assert b'"isDone":false' in kit.disk.read("store/config/stagedRounds.json")
    assert b'"id":"P"' in kit.disk.read("store/config/producerSequences.json")
    assert kit.power_cut().bodies(queue_id=QUEUE) == [b"a"]


def test_a_round_that_is_there_in_part_is_completed() -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Other", 4, 4))
    place = stage(kit, FIRST, [b"a", b"b", b"c"])
    body = batch_body(FIRST + 1, [b"b"], epoch=9 << 20)
    fields = {"a": "g", "b": "Orders", "e": str(QUEUE), "f": "0", "g": "1", "h": "0", "i": ""}
    assert kit.ask(28002, {**fields, "m": "true", "quiet": "true"}, body).code == 0
    assert publish(kit, place).code == 0
    assert kit.bodies(queue_id=QUEUE) == [b"b", b"a", b"c"]


def test_a_round_of_more_queues_and_tasks_than_a_broker_remembers_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    said = {"writeId": "W", "roundId": "9", "topic": "Orders", "queueId": str(QUEUE)}
    places = []
    for task in range(QUEUES_MAX + 1):
        body = batch_body(FIRST, [b"a"], epoch=9 << 20, producer=f"W/t{task}")
        kit.tell(STAGE_BATCH, said, body)
        if task % 500 == 0 or task == QUEUES_MAX:
            kit.finish()
            places += [int(answer.ext_fields["place"]) for answer in kit.heard()]
    refused = publish(kit, *places)
    assert (refused.code, kit.bodies(queue_id=QUEUE)) == (TOO_MANY, [])
    assert publish(kit, *places[1:]).code == 0
