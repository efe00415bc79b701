from aerobee.errors import DiskFailed
from tests.sim.log_copies import Story
from tests.store_kit import draft
from tests.unit.sim.node_kit import Cluster


def test_a_node_says_when_it_serves_and_how_it_ended() -> None:
    cluster = Cluster()
    cluster.run(100)
    assert cluster.fate.news == ["opened", "started"]
    assert cluster.broker.is_up
    cluster.broker.stop()
    cluster.run(20_000)
    assert cluster.fate.news == ["opened", "started", "stopped"]
    assert not cluster.broker.is_up
    cluster.broker.start()
    cluster.run(100)
    assert cluster.fate.news[3:] == ["opened", "started"]


def test_a_power_cut_in_a_disk_call_takes_the_machine_and_leaves_what_fate_says() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.disk.faults.power_cut_at(5)
    cluster.run(60_000)
    assert cluster.fate.news[-1] == "without power"
    assert cluster.broker.host.is_dark
    assert cluster.broker.disk.origin == "nothing"


def test_a_kill_in_a_disk_call_leaves_the_memory_of_the_system() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.is_kill_planned = True
    cluster.broker.disk.faults.power_cut_at(5)
    cluster.run(60_000)
    assert cluster.fate.news[-1] == "killed"
    assert not cluster.broker.host.is_dark
    assert cluster.broker.disk.origin == "killed"


def test_a_start_can_be_cut_and_the_next_one_serves() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.kill()
    cluster.broker.disk.faults.power_cut_at(10)
    cluster.broker.start()
    assert cluster.fate.news[-1] == "without power"
    cluster.broker.start()
    cluster.run(100)
    assert cluster.fate.news[-1] == "started"


def test_a_node_that_cannot_start_is_to_blame_unless_its_disk_is() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.kill()
    for name in ("topics.json", "topics.json.bak"):
        cluster.broker.disk.replace(f"store/config/{name}", b"{")
    cluster.broker.start()
    cluster.run(100)
    assert len(cluster.fate.failures) == 1
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.stop()
    cluster.run(5_000)
    cluster.broker.disk.capacity_bytes = cluster.broker.disk.used_bytes()
    cluster.broker.start()
    assert cluster.fate.failures == []
    assert cluster.fate.news[-1] == "not started"


def test_what_comes_out_of_a_service_is_told() -> None:
    cluster = Cluster()
    cluster.run(100)
    cluster.broker.disk.faults.fail_sync("*commitlog*")
    cluster.broker.store.append(draft(), 1)
    cluster.run(60_000)
    assert [type(error) for error in cluster.fate.failures] == [DiskFailed]
    assert cluster.fate.news[-1] == "stopped"


def test_a_node_accepts_links_on_its_ha_port() -> None:
    story = Story(1, slaves=1)
    story.run(500)
    assert story.master.primary is not None
    assert len(story.master.primary.statuses(story.master.host.clock.now())) == 1
