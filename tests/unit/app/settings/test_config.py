from dataclasses import dataclass
from pathlib import Path

import pytest

from aerobee.app.settings.config import (
    LISTEN_SETTINGS,
    PATH,
    BadConfig,
    Given,
    ListenConfig,
    Reading,
    environment_name,
    given_in_environment,
    given_in_file,
)
from aerobee.model.setting import Setting, Whole


@dataclass(frozen=True)
class Window:
    low: int = 1
    high: int = 9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("lowMark must not be above highMark")


WINDOW = (Setting("lowMark", "low", Whole(0, 99)), Setting("highMark", "high", Whole(0, 99)))


def reading(*given: Given, ignored: tuple[str, ...] = ()) -> Reading:
    return Reading(given, prefix="AEROBEE_X_", ignored=ignored)


def test_what_is_given_later_counts() -> None:
    read = reading(Given("lowMark", "2", "file"), Given("lowMark", " 3 ", "flag"))
    assert read.build(Window(), WINDOW) == Window(3, 9)
    read.finish()


def test_every_mistake_is_reported_at_once() -> None:
    read = reading(
        Given("lowMark", "x", "f line 1"),
        Given("lowMark", "50", "f line 2"),
        Given("lowMrk", "1", "f line 3"),
        Given("other", "1", "f line 4"),
        Given("listenPort", "-1", "f line 5"),
    )
    assert read.build(Window(), WINDOW) == Window()
    assert read.build(ListenConfig(80), LISTEN_SETTINGS) == ListenConfig(80)
    with pytest.raises(BadConfig) as caught:
        read.finish()
    assert caught.value.mistakes == (
        "f line 1: lowMark must be a whole number from 0 to 99, not 'x'",
        "lowMark must not be above highMark",
        "f line 5: listenPort must be a whole number from 0 to 65535, not '-1'",
        "f line 3: lowMrk is not known: did you mean lowMark?",
        "f line 4: other is not known",
    )


def test_a_key_in_the_wrong_case_is_not_known_but_guessed() -> None:
    read = reading(Given("LOWMARK", "1", "f line 1"))
    read.build(Window(), WINDOW)
    with pytest.raises(BadConfig, match="did you mean lowMark"):
        read.finish()


def test_keys_of_rocketmqs_without_a_meaning_here_are_listed_and_guessed() -> None:
    read = reading(
        Given("workers", "8", "f"), Given("buffers", "x", "f"), ignored=("buffers", "workers", "z")
    )
    read.finish()
    assert read.ignored() == ["buffers", "workers"]
    read = reading(Given("worker", "8", "f"), ignored=("workers",))
    with pytest.raises(BadConfig, match="did you mean workers"):
        read.finish()


def test_what_holds_is_shown_with_where_it_comes_from_and_can_be_read_again(
    tmp_path: Path,
) -> None:
    read = reading(Given("lowMark", "2", "f line 1"), Given("lowMark", "3", "--low"))
    read.build(Window(), WINDOW)
    assert read.effective() == "# --low\nlowMark=3\n# default\nhighMark=9\n"
    file = tmp_path / "x.conf"
    file.write_text(read.effective())
    assert [(g.key, g.text) for g in given_in_file(str(file))] == [
        ("lowMark", "3"),
        ("highMark", "9"),
    ]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("listenPort", "AEROBEE_X_LISTEN_PORT"),
        ("brokerIP1", "AEROBEE_X_BROKER_IP1"),
        ("unRegisterBrokerQueueCapacity", "AEROBEE_X_UN_REGISTER_BROKER_QUEUE_CAPACITY"),
    ],
)
def test_a_key_has_a_name_in_the_environment(key: str, name: str) -> None:
    assert environment_name("AEROBEE_X_", key) == name


def test_the_environment_is_read_by_its_prefix() -> None:
    environment = {
        "AEROBEE_X_LOW_MARK": "5",
        "AEROBEE_X_LOW_MRK": "5",
        "AEROBEE_Y_LOW_MARK": "6",
        "PATH": "/bin",
    }
    given = given_in_environment(environment, "AEROBEE_X_", ["lowMark"])
    assert [(item.key, item.text) for item in given] == [
        ("lowMark", "5"),
        ("AEROBEE_X_LOW_MRK", "5"),
    ]
    read = reading(*given)
    assert read.build(Window(), WINDOW) == Window(5)
    with pytest.raises(BadConfig) as caught:
        read.finish()
    assert caught.value.mistakes == (
        "environment variable AEROBEE_X_LOW_MRK is not known: did you mean AEROBEE_X_LOW_MARK?",
    )


def test_a_file_says_the_line_of_each_key(tmp_path: Path) -> None:
    file = tmp_path / "x.conf"
    file.write_text("# first\na=1\n\nb: 2\n")
    assert given_in_file(str(file)) == [
        Given("a", "1", f"{file} line 2"),
        Given("b", "2", f"{file} line 4"),
    ]


def test_a_file_that_cannot_be_read_is_a_mistake_like_any_other(tmp_path: Path) -> None:
    for name, content in (("latin.conf", b"a=\xe9"), ("escape.conf", b"\na=\\u1")):
        (tmp_path / name).write_bytes(content)
    for name, said in (
        ("none.conf", "No such file"),
        ("latin.conf", "no UTF-8"),
        ("escape.conf", "line 2"),
        (".", "directory"),
    ):
        with pytest.raises(BadConfig, match=said):
            given_in_file(str(tmp_path / name))


def test_a_path_may_begin_at_home() -> None:
    assert PATH.read("~/x") == str(Path.home() / "x")
    assert PATH.read("/a/b") == "/a/b"
    with pytest.raises(ValueError, match="a path"):
        PATH.read("")
