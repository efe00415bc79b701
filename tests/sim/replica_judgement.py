"""The judgement of copies when a story is over: the same log, queues, tables and offsets."""

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_text import parse
from tests.sim.replica import ReplicaNode
from tests.sim.replica_world import ReplicaWorld

COPIED_MS_MAX = 8_000  # two rounds of copying what is beside the log

_TABLES = (
    (RequestCode.GET_ALL_TOPIC_CONFIG, "topicConfigTable"),
    (RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable"),
    (RequestCode.GET_ALL_CONSUMER_OFFSET, "offsetTable"),
)


def judge_replicas(world: ReplicaWorld) -> None:
    """Everything that differs goes to the breaches."""
    world.end_clients()
    world.pass_time(COPIED_MS_MAX)
    if world.history.breaches:
        return
    master = world.operator.master
    store = master.store
    end = store.end_offset
    if store.confirmation.confirmed_offset < end:
        world.history.breach("late", f"confirmed to {store.confirmation.confirmed_offset} of {end}")
    for node in world.replicas:
        if node is not master:
            _judge_log(world, node, master)
            _judge_tables(world, node, master)


def _judge_log(world: ReplicaWorld, node: ReplicaNode, master: ReplicaNode) -> None:
    start, end = max(node.store.min_offset, master.store.min_offset), master.store.end_offset
    if node.log_bytes(start, end + 1) != master.log_bytes(start, end):
        world.history.breach("other log", f"{node.host.name} from {start} to {end}")
    ours, theirs = _queues_of(node), _queues_of(master)
    if ours != theirs:
        world.history.breach("other queues", f"{node.host.name} has {ours}, not {theirs}")


def _queues_of(node: ReplicaNode) -> dict[tuple[bytes, int], tuple[int, int]]:
    return {
        (queue.topic, queue.queue_id): (queue.min_offset, queue.max_offset)
        for queue in node.store.queues()
        if queue.max_offset > 0
    }


def _judge_tables(world: ReplicaWorld, node: ReplicaNode, master: ReplicaNode) -> None:
    """The slave has everything that its master has; of an earlier one it may have more."""
    for code, name in _TABLES:
        ours, theirs = table_of(node, code, name), table_of(master, code, name)
        for key, row in theirs.items():
            if ours.get(key) != row:
                world.history.breach(
                    "other table",
                    f"{node.host.name}: {key} of {name} is {ours.get(key)}, not {row}",
                )


def table_of(node: ReplicaNode, code: RequestCode, name: str) -> dict[str, object]:
    answer = node.ask(RemotingCommand(code))
    said = parse(bytes(answer.body))
    assert isinstance(said, dict)
    table = said[name]
    assert isinstance(table, dict)
    return {str(key): row for key, row in table.items()}
