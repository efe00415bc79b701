import os

from aerobee.client.connection.process_id import own_number


def test_the_number_is_that_of_the_process_before_and_after_a_fork() -> None:
    assert own_number() == os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(0 if own_number() == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
