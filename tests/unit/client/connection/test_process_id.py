import os

from aerobee.client.connection.process_id import process_id


def test_the_number_is_that_of_the_process_before_and_after_a_fork() -> None:
    assert process_id() == os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(0 if process_id() == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
