import pytest

from aerobee.cli.mqadmin.options import Option, read
from aerobee.errors import Misuse

TOPIC = Option("t", "topic", "", is_required=True)
OFFSET = Option("o", "offset", "")
NUMBER = Option("qn", "totalQueueNum", "")
LIST = Option("l", "list", "", is_switch=True)
OPTIONS = (TOPIC, OFFSET, NUMBER, LIST)


@pytest.mark.parametrize(
    "words",
    [
        ["-t", "orders"],
        ["-torders"],
        ["--topic", "orders"],
        ["--topic=orders"],
        ["-topic", "orders"],
        ["--top", "orders"],
        ["-t", " orders "],
    ],
)
def test_a_flag_is_taken_in_every_way_that_rocketmqs_tool_takes(words: list[str]) -> None:
    assert read(OPTIONS, words).text("topic") == "orders"


def test_what_follows_a_flag_is_its_value_whatever_it_looks_like() -> None:
    given = read(OPTIONS, ["-t", "orders", "-o", "-1", "-l", "-qn", "8"])
    assert given.number("offset") == -1
    assert given.number("totalQueueNum") == 8
    assert "list" in given
    assert given.number("nothing", 7) == 7


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], r"-t \(--topic\) must be given"),
        (["-t"], "takes a value"),
        (["-t", "x", "stray"], "'stray' is no flag"),
        (["-t", "x", "-z"], "there is no flag '-z'"),
        (["-t", "x", "--nothing", "1"], "there is no flag '--nothing'"),
    ],
)
def test_what_is_not_understood_is_named(words: list[str], reason: str) -> None:
    with pytest.raises(Misuse, match=reason):
        read(OPTIONS, words)


def test_a_beginning_that_two_flags_have_is_not_guessed() -> None:
    two = (Option("", "begin", ""), Option("", "beginning", ""))
    with pytest.raises(Misuse, match="may be --begin, --beginning"):
        read(two, ["--be", "1"])
    assert read(two, ["--begin", "1"]).text("begin") == "1"


def test_help_needs_nothing_else() -> None:
    assert "help" in read(OPTIONS, ["-h"])


def test_everything_but_true_is_false_and_a_number_must_be_one() -> None:
    given = read(OPTIONS, ["-t", "TRUE", "-o", "many"])
    assert given.is_true("topic")
    assert not given.is_true("offset")
    assert given.is_true("absent", True)
    with pytest.raises(Misuse, match="--offset takes a whole number, not 'many'"):
        given.number("offset")


def test_one_of_several_must_be_said() -> None:
    given = read(OPTIONS, ["-t", "x"])
    assert given.one_of("offset", "topic") == "topic"
    with pytest.raises(Misuse, match="one of --offset or --list is needed"):
        given.one_of("offset", "list")
