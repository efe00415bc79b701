from tests.broker_kit import BrokerKit
from tests.once_kit import FENCED, ORDERS, open_producer, send_once


def test_file_log_and_epochs_together_make_what_is_known() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 0)
    kit.run(6000)  # the file has it
    send_once(kit, 1)  # only the log has it
    epoch, last = open_producer(kit)  # only the epochs have it
    assert last == {1: 1}
    kit = kit.killed()
    assert open_producer(kit, epoch=str(epoch)) == (epoch, {1: 1})
    assert send_once(kit, 2).code == FENCED
    assert send_once(kit, 2, epoch=epoch).code == 0
