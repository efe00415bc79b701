from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding, script, worst

GOOD = Finding(OK, "kernel", "a", "1", commands=("never shown",))
POOR = Finding(WARN, "kernel", "b", "2", "set it to 3", "it is slow", ("set b 3",))
WRONG = Finding(BAD, "disk", "c", "4", "buy one", "it is full")


def test_the_worst_counts() -> None:
    assert worst([]) == OK
    assert worst([GOOD, POOR]) == WARN
    assert worst([POOR, WRONG, GOOD]) == BAD


def test_a_script_has_the_commands_of_what_is_not_well_with_reasons() -> None:
    text = script([GOOD, POOR, WRONG])
    assert text.splitlines()[-1] == "set b 3"
    assert "# it is slow" in text
    assert "never shown" not in text
    assert all(line.startswith("#") or line in ("", "set b 3") for line in text.splitlines())


def test_a_script_without_commands_is_a_comment() -> None:
    assert script([GOOD, WRONG]).startswith("# Nothing to change")


def test_a_finding_is_a_record() -> None:
    assert POOR.to_json() == {
        "level": "warn",
        "area": "kernel",
        "subject": "b",
        "seen": "2",
        "change": "set it to 3",
        "why": "it is slow",
        "commands": ["set b 3"],
    }
