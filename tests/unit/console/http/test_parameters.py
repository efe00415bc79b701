import pytest

from aerobee.console.http.parameters import (
    BODY,
    QUERY,
    Parameter,
    Parsed,
    ValueKind,
    in_path,
    read_all,
)
from aerobee.console.http.problem import Problem

LIMIT = Parameter("limit", QUERY, "at most", ValueKind.WHOLE, 100, bounds=(1, 1000))


@pytest.mark.parametrize("text", ["0", "1001", "x", "1.5", "nan", "1e3", "9" * 30])
def test_a_number_out_of_bounds_or_none_is_refused_with_the_parameters_name(text: str) -> None:
    with pytest.raises(Problem, match="limit must be") as caught:
        LIMIT.read(text)
    assert (caught.value.status, caught.value.code) == (400, "bad_request")


def test_a_missing_value_is_the_default_or_is_asked_for() -> None:
    assert LIMIT.read(None) == 100
    assert LIMIT.read("") == 100
    with pytest.raises(Problem, match="name is missing"):
        Parameter("name", BODY, "of it", is_required=True).read(None)


@pytest.mark.parametrize(
    ("kind", "place", "given", "value"),
    [
        (ValueKind.TEXT, QUERY, "a", "a"),
        (ValueKind.WHOLE, QUERY, "-7", -7),
        (ValueKind.WHOLE, BODY, 7, 7),
        (ValueKind.REAL, BODY, 7, 7.0),
        (ValueKind.REAL, QUERY, "0.5", 0.5),
        (ValueKind.TRUTH, QUERY, "true", True),
        (ValueKind.TRUTH, BODY, False, False),
        (ValueKind.TEXTS, QUERY, "a,b", ["a", "b"]),
        (ValueKind.TEXTS, BODY, ["a"], ["a"]),
        (ValueKind.TABLE, BODY, {"a": "b"}, {"a": "b"}),
        (ValueKind.MOMENT, BODY, "latest", "latest"),
        (ValueKind.MOMENT, QUERY, "12", 12),
    ],
)
def test_values_are_read_by_their_kind(
    kind: ValueKind, place: str, given: Parsed, value: object
) -> None:
    assert Parameter("p", place, "", kind).read(given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (ValueKind.TEXT, 1),
        (ValueKind.TEXT, "x" * 5000),
        (ValueKind.WHOLE, "1"),
        (ValueKind.WHOLE, True),
        (ValueKind.WHOLE, 1.5),
        (ValueKind.REAL, "x"),
        (ValueKind.TRUTH, "true"),
        (ValueKind.TRUTH, 1),
        (ValueKind.TEXTS, "a,b"),
        (ValueKind.TEXTS, [1]),
        (ValueKind.TEXTS, ["a"] * 1001),
        (ValueKind.TABLE, []),
        (ValueKind.TABLE, {"a": 1}),
        (ValueKind.MOMENT, "soon"),
    ],
)
def test_a_value_of_another_kind_is_refused(kind: ValueKind, given: Parsed) -> None:
    with pytest.raises(Problem, match="p must be"):
        Parameter("p", BODY, "", kind).read(given)


def test_a_choice_is_one_of_those_that_there_are() -> None:
    kind = Parameter("kind", QUERY, "", choices=("a", "b"))
    assert kind.read("b") == "b"
    with pytest.raises(Problem, match="one of: a, b"):
        kind.read("c")


def test_a_name_that_is_no_parameter_is_refused_wherever_it_stands() -> None:
    parameters = (in_path("topic", ""), LIMIT, Parameter("tag", BODY, ""))
    assert read_all(parameters, {"topic": "t"}, {"limit": "5"}, {"tag": "a"}) == {
        "topic": "t",
        "limit": 5,
        "tag": "a",
    }
    with pytest.raises(Problem, match="lmit is no parameter"):
        read_all(parameters, {"topic": "t"}, {"lmit": "5"}, {})
    with pytest.raises(Problem, match="limit is no parameter"):
        read_all(parameters, {"topic": "t"}, {}, {"limit": 5})
