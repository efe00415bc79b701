import io

from aerobee.app.load.run.live import Live
from aerobee.app.load.workload.workload import Workload
from tests.load_kit import BROKER, result


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *, is_quiet: bool = False) -> str:
    live = Live("produce", is_quiet=is_quiet, stream=stream)
    told = live.told()
    for _ in range(2):
        told.begins(Workload(), [BROKER])
        told.progress("filling: 1 of 2")
        told.point(result().points[0])
    live.end()
    live.say("over")
    return stream.getvalue()


def test_without_a_terminal_each_second_has_a_line() -> None:
    lines = shown(io.StringIO()).splitlines()
    assert lines.count("filling: 1 of 2") == 2
    assert sum("1,000" in line for line in lines) == 2
    assert sum("sent/s" in line for line in lines) == 1  # names once
    assert sum("broker-a" in line for line in lines) == 1
    assert "\r" not in "".join(lines)


def test_on_a_terminal_one_line_changes() -> None:
    text = shown(Terminal())
    assert text.count("\r") == 4
    assert text.endswith("\nover\n")
    assert all(len(part) <= 80 for line in text.split("\n") for part in line.split("\r"))


def test_a_program_that_reads_the_result_is_told_nothing_else() -> None:
    assert shown(io.StringIO(), is_quiet=True) == ""
    assert "1,000" in shown(Terminal(), is_quiet=True)
