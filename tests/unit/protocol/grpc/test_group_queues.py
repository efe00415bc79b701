from aerobee.protocol.grpc.group_queues import queue_of_group


def test_a_group_has_one_queue_of_those_there_are() -> None:
    for queues in (1, 2, 8, 100):
        found = {queue_of_group(f"group-{number}", queues) for number in range(2_000)}
        assert found == set(range(queues))


def test_more_queues_move_few_groups() -> None:
    groups = [f"group-{number}" for number in range(1_000)]
    moved = [one for one in groups if queue_of_group(one, 8) != queue_of_group(one, 9)]
    assert all(queue_of_group(one, 9) == 8 for one in moved)
    assert 50 < len(moved) < 200
