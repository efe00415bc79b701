from aerobee.console.http.action import DELETE, GET, Action, Ask, Record
from aerobee.console.http.parameters import Value, in_path
from aerobee.console.session.visitor import Role, Visitor


async def nothing(ask: Ask) -> Record:
    return {}


def test_an_action_that_asks_for_a_name_and_has_a_dry_run_takes_both() -> None:
    path = (in_path("topic", ""),)
    action = Action(
        "a", DELETE, "/a/{topic}", Role.ADMIN, "", nothing, path, confirm="topic", has_dry_run=True
    )
    assert [one.name for one in action.all_parameters()] == ["topic", "confirm", "dry_run"]
    assert action.changes
    plain = Action("b", GET, "/b", Role.VIEWER, "", nothing)
    assert plain.all_parameters() == ()
    assert not plain.changes


def test_a_request_hands_out_its_values_by_kind() -> None:
    given: dict[str, Value] = {
        "t": "x",
        "n": 3,
        "r": 0.5,
        "yes": True,
        "l": ["a"],
        "m": {"a": "b"},
        "none": None,
    }
    ask = Ask(given, Visitor("127.0.0.1"))
    assert (ask.text("t"), ask.text("none"), ask.maybe_text("none")) == ("x", "", None)
    assert (ask.whole("n"), ask.maybe_whole("none"), ask.maybe_whole("yes")) == (3, None, None)
    assert (ask.real("r"), ask.truth("yes"), ask.truth("none")) == (0.5, True, False)
    assert ask.maybe_truth("none") is None
    assert (ask.texts("l"), ask.table("m"), ask.moment("n")) == (["a"], {"a": "b"}, 3)
    assert not ask.is_dry
    assert Ask({"dry_run": True}, Visitor("")).is_dry
