from dataclasses import dataclass
from enum import Enum

import pytest

from aerobee.model.setting import PORT, TEXT, TRUTH, Choice, Kind, Setting, Whole, changed, texts


@dataclass(frozen=True)
class Config:
    port: int = 9876
    is_on: bool = True
    wait_ms: int = 45_000
    name: str = "x"


SETTINGS = (
    Setting("listenPort", "port", PORT),
    Setting("enable", "is_on", TRUTH, is_live=True),
    Setting("waitSeconds", "wait_ms", Whole(1, 60, scale=1000), is_live=True),
    Setting("name", "name", TEXT),
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (TRUTH, "true", True),
        (TRUTH, "False", False),
        (TEXT, "a b", "a b"),
        (PORT, "0", 0),
        (PORT, "65535", 65535),
        (Whole(-5, 5), "-5", -5),
        (Whole(1, 60, scale=1000), "60", 60_000),
    ],
)
def test_a_text_of_its_kind_is_a_value_and_back(kind: Kind, text: str, value: object) -> None:
    assert kind.read(text) == value
    assert kind.write(value) == text.lower()


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        (TRUTH, "1", "true or false"),
        (TRUTH, "", "true or false"),
        (PORT, "65536", "a whole number from 0 to 65535"),
        (PORT, "-1", "a whole number"),
        (PORT, "1.0", "a whole number"),
        (PORT, "", "a whole number"),
        (PORT, "-", "a whole number"),
        (PORT, "１", "a whole number"),
        (PORT, "1_0", "a whole number"),
        (PORT, "9" * 5000, "a whole number"),
    ],
)
def test_a_text_of_another_kind_is_refused_with_what_is_wanted(
    kind: Kind, text: str, wanted: str
) -> None:
    with pytest.raises(ValueError, match=wanted):
        kind.read(text)


def test_a_configuration_is_shown_under_rocketmqs_names() -> None:
    assert texts(Config(), SETTINGS) == {
        "listenPort": "9876",
        "enable": "true",
        "waitSeconds": "45",
        "name": "x",
    }


def test_live_settings_can_be_changed() -> None:
    found = changed(Config(), SETTINGS, {"enable": " false ", "waitSeconds": "2"})
    assert found == Config(is_on=False, wait_ms=2000)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"listenPort": "1"}, "listenPort cannot be changed"),
        ({"other": "1"}, "other cannot be changed"),
        ({"enable": "maybe"}, "enable must be true or false, not 'maybe'"),
        ({"enable": "false", "waitSeconds": "61"}, "waitSeconds must be a whole number"),
    ],
)
def test_what_is_not_live_or_not_of_its_kind_is_refused(values: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        changed(Config(), SETTINGS, values)


class Colour(Enum):
    RED = "RED"
    DARK_BLUE = "DARK_BLUE"


def test_a_choice_is_read_whatever_its_case_and_written_as_rocketmq_does() -> None:
    kind = Choice(Colour)
    assert kind.read("dark_Blue") is Colour.DARK_BLUE
    assert kind.write(Colour.RED) == "RED"
    with pytest.raises(ValueError, match="RED or DARK_BLUE"):
        kind.read("green")
