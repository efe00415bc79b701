import io

from aerobee.cli.progress import Progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, times: list[float], total: int | None = None) -> str:
    clock = iter([0.0, *times, times[-1]])
    with Progress("sent", total, stream=stream, now=lambda: next(clock)) as progress:
        for _ in times:
            progress.step()
        assert progress.count == len(times)
    return stream.getvalue()


def test_what_takes_less_than_two_seconds_shows_nothing() -> None:
    assert shown(Screen(), [0.5, 1.0, 1.9]) == ""


def test_a_terminal_has_a_line_that_changes_and_goes_away() -> None:
    said = shown(Screen(), [1.0, 2.0, 2.1, 2.3], total=8)
    first, second, last = said.split("\r\x1b[2K")[1:]
    assert first.split() == ["sent", "██████" + "░" * 18, "25%", "2/8", "1/s"]
    assert "4/8" in second
    assert last == ""


def test_without_a_terminal_there_is_a_line_every_ten_seconds() -> None:
    said = shown(io.StringIO(), [1.0, 2.0, 3.0, 11.9, 12.0])
    assert said == "sent 2  1/s\nsent 5  0/s\n"


def test_while_nothing_is_counted_a_sentence_is_shown() -> None:
    stream = io.StringIO()
    clock = iter([0.0, 1.0, 3.0])
    progress = Progress("copied", stream=stream, now=lambda: next(clock))
    progress.say("waiting for n3")
    progress.say("still waiting for n3")
    assert stream.getvalue() == "still waiting for n3\n"
