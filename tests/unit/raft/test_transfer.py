"""Transfer: to whom, until when."""

from aerobee.raft.transfer import Transfer


def test_a_transfer_begins_without_its_order_being_sent() -> None:
    transfer = Transfer(3, 7000)
    assert (transfer.target, transfer.deadline_ms, transfer.is_sent) == (3, 7000, False)
