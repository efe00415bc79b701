from pathlib import Path

from aerobee.app.process.holdings import Holdings, holdings_of, together
from aerobee.model.names import TIMER_TOPIC
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

SMALL = StorageConfig(log_file_bytes=65536, queue_file_units=100, index_enabled=False)


def test_messages_of_applications_are_counted_and_nothing_else(tmp_path: Path) -> None:
    worker = ThreadDiskWorker()
    store = Store.open(MappedDisk(), str(tmp_path), SMALL, worker)
    draft = MessageDraft()
    draft.set_body(memoryview(b"x"))
    for topic in ("orders", "orders", "logins", "%RETRY%g", "%DLQ%g", TIMER_TOPIC, "cluster"):
        draft.topic = topic.encode()
        draft.queue_id += 1
        store.append(draft, 0)
    store.dispatch()
    held = holdings_of(store, cluster="cluster", broker="b")
    store.close()
    worker.close()
    assert held == Holdings(frozenset({"orders", "logins"}), 3)


def test_a_topic_on_two_brokers_is_one_topic() -> None:
    one, other = Holdings(frozenset("ab"), 3), Holdings(frozenset("bc"), 4)
    assert together([one, other]) == Holdings(frozenset("abc"), 7)
    assert together([]) == Holdings(frozenset(), 0)
